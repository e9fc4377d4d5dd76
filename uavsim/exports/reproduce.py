"""Generate scenes of a dataset card again and compare their hashes with its certificate."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from uavsim.config.overrides import Overrides
from uavsim.config.run import RunConfig
from uavsim.errors import InputError
from uavsim.exports.publish.certificate import Certificate, CertifiedScene, read_certificate, scene_hashes
from uavsim.on_top import ON_TOP
from uavsim.plan.numbering import parse_numbers
from uavsim.run.request import Request
from uavsim.run.resolve import identity_of, resolve
from uavsim.run.result import Result
from uavsim.store.ledger import read_entry
from uavsim.store.local import LocalOutput


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The comparison of one generated scene with its certificate: whether plan, files and table rows are equal."""

    scene: str
    plan: bool
    files: bool
    rows: bool

    @property
    def equal(self) -> bool:
        """Whether all three are equal."""
        return self.plan and self.files and self.rows


def reproduce(
    card: Path,
    out: Path,
    *,
    scenes: str,
    simulators: tuple[str, ...],
    run: RunConfig | None,
    generate: Callable[[Request], Result],
) -> tuple[list[Reproduction], list[str]]:
    """Generate scenes of a card in a new folder and compare them.

    Args:
        card: README.md of a pack, its folder, or a file with the certificate.
        out: the new folder.
        scenes: scene numbers in the dataset, as ``0-4,7``.
        simulators: as in ``uavsim generate``.
        run: as in ``uavsim generate``.
        generate: runs a request.

    Returns:
        One comparison for each scene, and one line for each package with another version than in the card.

    Raises:
        InputError: no certificate, no scene of that number, or the installed configuration is not the certified one.
        SystemFailure: a scene could not be generated.
    """
    certificate = read_certificate(card)
    certified = _certified_scenes(certificate, scenes)
    options = certificate.request
    request = Request(
        dataset=options.dataset or certificate.dataset,
        out=str(out),
        towns=tuple(dict.fromkeys(scene.town for scene in certified.values())),
        scenes=",".join(str(scene.number) for scene in certified.values()),
        **{key: getattr(options, key) for key in Overrides.model_fields},
        simulators=simulators,
        traffic_retries={name: scene.traffic_retry for name, scene in certified.items() if scene.traffic_retry},
        check=False,
        run=run,
    )
    identity = identity_of(request)
    keys = ("fingerprint", "seed", "dataset")
    if any(getattr(certificate, key) != identity[key] for key in keys):
        raise InputError(
            f"{card}: the installed configuration {certificate.dataset} differs from the card; install the YAML files and "
            "the version of uavsim that the card names"
        )
    planned = {scene.name: (scene.index, scene.town) for scene in resolve(request, ON_TOP).scenes}
    if other := [name for name, scene in certified.items() if planned.get(name) != (scene.number, scene.town)]:
        raise InputError(f"{card}: {certificate.dataset} has no scene {other[0]} with this number and town")
    differing = [
        f"{name}: the card says {version}, here is {identity['versions'].get(name, 'none')}"
        for name, version in certificate.versions.items()
        if identity["versions"].get(name) != version
    ]
    result = generate(request)
    if result.error is not None:
        raise result.error
    return [_compared(out, name, scene) for name, scene in certified.items()], differing


def _certified_scenes(certificate: Certificate, scenes: str) -> dict[str, CertifiedScene]:
    by_number = {scene.number: name for name, scene in certificate.scenes.items()}
    numbers = parse_numbers(scenes, what="--scenes")
    missing = [number for number in numbers if number not in by_number]
    if missing:
        raise InputError(f"--scenes: the card has no scene {missing[0]}; it has {min(by_number)} to {max(by_number)}")
    return {by_number[number]: certificate.scenes[by_number[number]] for number in numbers}


def _compared(out: Path, name: str, certified: CertifiedScene) -> Reproduction:
    output = LocalOutput(out.absolute())
    entry = read_entry(output, name)
    assert entry is not None, "the run committed it"
    hashes = scene_hashes(output, entry)
    equal = {
        kind: hashes[f"{kind}_sha256"] == getattr(certified, f"{kind}_sha256") for kind in ("plan", "files", "rows")
    }
    return Reproduction(name, **equal)
