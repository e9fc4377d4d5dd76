"""Make scenes again from a dataset's card alone, and compare hashes."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from uavsim.config.overrides import Overrides
from uavsim.config.run import RunConfig
from uavsim.errors import InputError
from uavsim.exports.publish.certificate import read_certificate, scene_hashes
from uavsim.exports.publish.certified import CertifiedScene, ReadCertificate
from uavsim.on_top import ON_TOP
from uavsim.plan.numbering import parse_numbers
from uavsim.run.request import Request
from uavsim.run.resolve import identity_of, resolve
from uavsim.run.result import Result
from uavsim.store.ledger import read_entry
from uavsim.store.local import LocalOutput


@dataclass(frozen=True, slots=True)
class Reproduction:
    """One scene that was made again: whether its plan, its files and its table rows are those of the certificate."""

    scene: str
    plan: bool
    files: bool
    rows: bool

    @property
    def equal(self) -> bool:
        """Everything is."""
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
    """Make scenes of a card again in a new folder.

    Args:
        card: README.md of a pack, its folder, or a file with the certificate.
        out: the new folder.
        scenes: numbers in the dataset, ``0-4,7``.
        simulators: as of ``uavsim generate``.
        run: as of ``uavsim generate``.
        generate: runs a request.

    Returns:
        One result for each scene, and lines that say which versions differ.

    Raises:
        InputError: no certificate, a number that it does not have, or this uavsim has another configuration of that name.
        SystemFailure: a scene could not be made.
    """
    certificate = read_certificate(card)
    wanted = _wanted(certificate, scenes)
    asked = certificate.request
    request = Request(
        dataset=asked.dataset or certificate.dataset,
        out=str(out),
        towns=tuple(dict.fromkeys(scene.town for scene in wanted.values())),
        scenes=",".join(str(scene.number) for scene in wanted.values()),
        **{key: getattr(asked, key) for key in Overrides.model_fields},
        simulators=simulators,
        traffic_retries={name: scene.traffic_retry for name, scene in wanted.items() if scene.traffic_retry},
        check=False,
        run=run,
    )
    identity = identity_of(request)
    named = (certificate.fingerprint, certificate.seed, certificate.dataset)
    if named != (identity["fingerprint"], identity["seed"], identity["dataset"]):
        raise InputError(
            f"{card}: the configuration {certificate.dataset} that is installed here is not the one of the card; get the "
            "YAML files and the version of uavsim that it names"
        )
    planned = {scene.name: (scene.index, scene.town) for scene in resolve(request, ON_TOP).scenes}
    if other := [name for name, scene in wanted.items() if planned.get(name) != (scene.number, scene.town)]:
        raise InputError(
            f"{card}: scene {other[0]} is not called so, or lies in another town, in {certificate.dataset}"
        )
    differing = [
        f"{name}: the card says {version}, here is {identity['versions'].get(name, 'none')}"
        for name, version in certificate.versions.items()
        if identity["versions"].get(name) != version
    ]
    result = generate(request)
    if result.error is not None:
        raise result.error
    return [_compared(out, name, reported) for name, reported in wanted.items()], differing


def _wanted(certificate: ReadCertificate, scenes: str) -> dict[str, CertifiedScene]:
    by_number = {scene.number: name for name, scene in certificate.scenes.items()}
    numbers = parse_numbers(scenes, what="--scenes")
    missing = [number for number in numbers if number not in by_number]
    if missing:
        raise InputError(f"--scenes: the card has no scene {missing[0]}; it has {min(by_number)} to {max(by_number)}")
    return {by_number[number]: certificate.scenes[by_number[number]] for number in numbers}


def _compared(out: Path, name: str, reported: CertifiedScene) -> Reproduction:
    output = LocalOutput(out.absolute())
    entry = read_entry(output, name)
    assert entry is not None, "the run committed it"
    here = scene_hashes(output, entry)
    return Reproduction(
        name,
        plan=here["plan_sha256"] == reported.plan_sha256,
        files=here["files_sha256"] == reported.files_sha256,
        rows=here["rows_sha256"] == reported.rows_sha256,
    )
