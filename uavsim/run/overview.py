"""The progress of a dataset and the work left, read from its ledger."""

import json
from dataclasses import dataclass
from pathlib import Path

from uavsim.errors import InputError
from uavsim.files.unfinished import refuse_unfinished
from uavsim.run.request import Request
from uavsim.run.resolve import all_scenes, identity_of
from uavsim.store.identity import IDENTITY, kept_dataset, read_asked, read_identity
from uavsim.store.ledger import LedgerEntry, read_ledger
from uavsim.store.output import Output
from uavsim.store.places import open_output

_PACE_FROM = 10  # scenes


@dataclass(frozen=True, slots=True)
class Overview:
    """The state of a dataset.

    Attributes:
        address: folder or URL of the dataset.
        dataset: name of the dataset.
        seed: seed of the dataset.
        committed: number of committed scenes.
        flying: scenes that a process holds.
        interrupted: started scenes that no process holds.
        quarantined: entries of quarantined scenes, including scenes with an earlier committed flight.
        missing: names of requested scenes without an attempt; None if the YAML is no longer readable.
        not_asked: number of scenes of the dataset that were not requested.
        images: number of images in the dataset.
        scene_s: seconds per scene, from the last ones; None before the first.
        slots: number of simulator slots in use.
    """

    address: str
    dataset: str
    seed: int
    committed: tuple[LedgerEntry, ...]
    flying: tuple[str, ...]
    interrupted: tuple[str, ...]
    quarantined: tuple[LedgerEntry, ...]
    missing: tuple[str, ...] | None
    not_asked: int
    images: int
    scene_s: float | None
    slots: int

    @property
    def eta_s(self) -> float | None:
        """Estimated seconds to completion at the pace of the last scenes with the present simulators (at least one)."""
        if self.scene_s is None or self.missing is None:
            return None
        return (len(self.missing) + len(self.interrupted) + len(self.flying)) * self.scene_s / max(self.slots, 1)

    def as_json(self) -> str:
        """Return the overview as JSON text."""
        return json.dumps(
            {
                "address": self.address,
                "dataset": self.dataset,
                "seed": self.seed,
                "committed": [entry.scene for entry in self.committed],
                "flying": self.flying,
                "interrupted": self.interrupted,
                "quarantined": {entry.scene: entry.failures for entry in self.quarantined},
                "missing": self.missing,
                "not_asked": self.not_asked,
                "images": self.images,
                "eta_s": self.eta_s,
            }
        )


def overview(out: str, *, scratch: Path | None = None) -> Overview:
    """Return the state of a finished or unfinished dataset.

    Raises:
        InputError: ``out`` is not a dataset of uavsim.
    """
    output = open_output(out, scratch=scratch)
    identity = read_identity(output)
    if identity is None:
        if output.is_local:
            refuse_unfinished(output.root)
        raise InputError(f"{output.address}: not a uavsim dataset (no {IDENTITY})")
    ledger = sorted(read_ledger(output).values(), key=lambda entry: entry.index)
    begun = [entry.scene for entry in ledger if entry.state == "flying"]
    again = [entry.scene for entry in ledger if entry.replacing is not None and not entry.given_up]
    flying = tuple(scene for scene in (*begun, *again) if _held(output, scene))
    committed = tuple(entry for entry in ledger if entry.state == "committed")
    unflown = _missing(out, identity, stored=kept_dataset(output), known={entry.scene for entry in ledger})
    requested = read_asked(output)
    missing = unflown if unflown is None or requested is None else tuple(name for name in unflown if name in requested)
    return Overview(
        address=output.address,
        dataset=str(identity["dataset"]),
        seed=int(identity["seed"]),
        committed=committed,
        flying=flying,
        interrupted=tuple(scene for scene in begun if scene not in flying),
        quarantined=tuple(entry for entry in ledger if entry.given_up),
        missing=missing,
        not_asked=len(unflown or ()) - len(missing or ()),
        images=sum(entry.facts.images for entry in committed if entry.facts),
        scene_s=_pace_s(committed),
        slots=len(flying),
    )


def _held(output: Output, scene: str) -> bool:
    with output.lock(scene) as is_locked:
        return not is_locked


def _missing(out: str, identity: dict[str, object], *, stored: str | None, known: set[str]) -> tuple[str, ...] | None:
    """Return the scenes without an attempt; None if the dataset's YAML is missing or edited, and no copy exists."""
    request_values = identity.get("request")
    if not isinstance(request_values, dict):
        return None
    try:
        arguments = {key: value for key, value in request_values.items() if value is not None}
        request = Request(**(arguments | {"out": out} | ({"dataset": stored} if stored else {})))
        if identity_of(request)["fingerprint"] != identity["fingerprint"]:
            return None
        return tuple(scene.name for scene in all_scenes(request.dataset) if scene.name not in known)
    except InputError:
        return None


def _pace_s(committed: tuple[LedgerEntry, ...]) -> float | None:
    times_s = [entry.facts.fly_s + entry.facts.label_s for entry in committed if entry.facts and entry.facts.fly_s]
    last = times_s[-_PACE_FROM:]
    return sum(last) / len(last) if last else None
