"""The ledger: one small file per scene, written atomically, is the truth about what is done.

``flying`` is written before anything of the scene is; ``committed`` is written last of all, so its rename is the commit
point; ``quarantined`` keeps why the scene was given up. A ``flying`` entry whose scene nobody holds was interrupted.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final, Literal, get_args

from uavsim.errors import StorageError
from uavsim.store.atomic import to_json_bytes
from uavsim.store.layout import check_name
from uavsim.store.output import Output

__all__ = ["LEDGER", "LedgerEntry", "SceneFacts", "SceneState", "read_entry", "read_ledger", "write_entry"]

SceneState = Literal["flying", "committed", "quarantined"]
LEDGER: Final = ".uavsim/ledger"
_VERSION: Final = 2  # of an entry's file; 1 had no number, any facts, and forced_by among them


@dataclass(frozen=True, slots=True)
class SceneFacts:
    """How a committed scene was flown; for people and summaries.

    Attributes:
        vehicles: that spawned.
        vehicles_asked: that the plan asked for.
        walkers: that spawned.
        samples: keyframes.
        images: RGB images.
        images_per_s: while it flew.
        fly_s: seconds in the simulator, without the waiting for one.
        label_s: seconds of labelling.
        slot: the simulator slot that flew it.
    """

    vehicles: int = 0
    vehicles_asked: int = 0
    walkers: int = 0
    samples: int = 0
    images: int = 0
    images_per_s: float = 0.0
    fly_s: float = 0.0
    label_s: float = 0.0
    slot: str = ""


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """What is known about one scene.

    Attributes:
        scene: its name.
        state: see the module.
        index: its number in the data set, the order of the tables.
        town: for grouping in tables.
        plan_sha256: of the packed plan that was flown; another plan under the same name is another scene.
        attempts: failed attempts since the scene was last committed or forced.
        reasons: one line per failed attempt, oldest first.
        forced_by: process that was asked to fly the scene although it was committed; 0: none.
        facts: how it was flown; None until it is committed.
    """

    scene: str
    state: SceneState
    index: int = 0
    town: str = ""
    plan_sha256: str = ""
    attempts: int = 0
    reasons: tuple[str, ...] = ()
    forced_by: int = 0
    facts: SceneFacts | None = None

    def failed(self, reason: str) -> LedgerEntry:
        """Count one more failed attempt."""
        return replace(self, attempts=self.attempts + 1, reasons=(*self.reasons, reason))


def read_entry(output: Output, scene: str) -> LedgerEntry | None:
    """Return the scene's entry, or None when the scene never started.

    Raises:
        StorageError: the file is not a ledger entry: the disk or somebody changed it.
    """
    data = output.read(f"{LEDGER}/{check_name(scene, what='scene')}.json")
    return None if data is None else _parse(data, where=f"{LEDGER}/{scene}.json")


def write_entry(output: Output, entry: LedgerEntry) -> None:
    """Write the entry whole; when this returns it survives a power cut."""
    output.replace(
        f"{LEDGER}/{check_name(entry.scene, what='scene')}.json", to_json_bytes({"version": _VERSION, **asdict(entry)})
    )


def read_ledger(output: Output) -> dict[str, LedgerEntry]:
    """Return every entry by scene name, in order of name."""
    entries: dict[str, LedgerEntry] = {}
    for key in output.keys(LEDGER):
        data = output.read(key)
        if data is not None and key.endswith(".json"):
            entry = _parse(data, where=key)
            entries[entry.scene] = entry
    return entries


def _parse(data: bytes, *, where: str) -> LedgerEntry:
    try:
        values = json.loads(data)
        version = int(values.pop("version", 1))
        if version > _VERSION:
            raise StorageError(f"{where} is of a newer version of uavsim (entry version {version}); update uavsim")
        entry = _entry(values)
    except (ValueError, TypeError, AttributeError) as error:
        raise StorageError(
            f"{where} is not a ledger entry ({error}); delete it and the scene is flown again"
        ) from error
    if entry.state not in get_args(SceneState):
        raise StorageError(f"{where}: unknown state {entry.state!r}; delete it and the scene is flown again")
    return entry


def _entry(values: dict[str, Any]) -> LedgerEntry:
    """Make an entry of version 1 or 2; facts of version 1 may be any."""
    facts = values.pop("facts", None) or {}
    forced_by = int(values.pop("forced_by", facts.get("forced_by", 0)))
    known = {field.name: facts[field.name] for field in fields(SceneFacts) if field.name in facts}
    reasons = tuple(values.pop("reasons", ()))
    return LedgerEntry(**values, reasons=reasons, forced_by=forced_by, facts=SceneFacts(**known) if known else None)
