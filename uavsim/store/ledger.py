"""The ledger: one file per scene, written atomically, with the state of the scene.

``flying`` is written before any file of the scene; ``committed`` is written last, and its rename is the commit;
``quarantined`` has the reasons why the scene was given up. A ``flying`` entry without a lock is an interrupted scene. A
committed scene that is flown again stays committed; ``replacing`` has the state of the new flight.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final, Literal, get_args

from uavsim.errors import StorageError
from uavsim.files.parse import parse_json
from uavsim.files.whole import to_json_bytes
from uavsim.store.layout import check_name
from uavsim.store.output import Output

SceneState = Literal["flying", "committed", "quarantined"]
LEDGER: Final = ".uavsim/ledger"
_VERSION: Final = 3  # of an entry's file
_MOST_NUMBER: Final = 10**12


@dataclass(frozen=True, slots=True)
class SceneFacts:
    """Statistics of a committed scene's flight, for summaries.

    Attributes:
        vehicles: spawned vehicles.
        vehicles_asked: requested vehicles.
        walkers: spawned walkers.
        moved_in_warmup: share of moving vehicles among those that no light held; None without such vehicles.
        moved_in_scene: the same during the scene.
        traffic_retry: number of earlier flights with stalled traffic; each retry draws the traffic with another seed.
        samples: keyframes.
        images: RGB images.
        images_drawn: images of all kinds from the server, including those for settling.
        images_per_s: during the flight.
        fly_s: seconds in the simulator, without waiting for one.
        label_s: seconds of labelling.
        core_s: processor seconds of client, labelling, and of a simulator that the run started as a process.
        slot: the simulator slot.
        machine: host name.
    """

    vehicles: int = 0
    vehicles_asked: int = 0
    walkers: int = 0
    moved_in_warmup: float | None = None
    moved_in_scene: float | None = None
    traffic_retry: int = 0
    samples: int = 0
    images: int = 0
    images_drawn: int = 0
    images_per_s: float = 0.0
    fly_s: float = 0.0
    label_s: float = 0.0
    core_s: float = 0.0
    slot: str = ""
    machine: str = ""


@dataclass(frozen=True, slots=True)
class Replacement:
    """The state of a new flight of a committed scene.

    Attributes:
        plan_sha256: hash of the new plan.
        attempts: number of failed attempts.
        reasons: one line per failed attempt, oldest first.
        given_up: the limit of attempts is reached; the committed scene stays.
    """

    plan_sha256: str
    attempts: int = 0
    reasons: tuple[str, ...] = ()
    given_up: bool = False


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """The recorded state of one scene.

    Attributes:
        scene: name of the scene.
        state: see the module.
        index: number of the scene in the dataset, which orders the tables.
        town: name of the town.
        plan_sha256: hash of the packed plan; another plan with the same name is another scene.
        attempts: failed attempts since the scene was last committed or forced.
        lost_s: simulator seconds of failed attempts, except those that died without a report.
        reasons: one line per failed attempt, oldest first.
        facts: statistics of the flight; None until the scene is committed.
        generation: generation of the committed files.
        retired: replaced generations that tables may still name.
        replacing: state of a new flight of a committed scene; stays set if the flight is given up.
    """

    scene: str
    state: SceneState
    index: int = 0
    town: str = ""
    plan_sha256: str = ""
    attempts: int = 0
    lost_s: float = 0.0
    reasons: tuple[str, ...] = ()
    facts: SceneFacts | None = None
    generation: int = 0
    retired: tuple[int, ...] = ()
    replacing: Replacement | None = None

    def failed(self, reason: str, *, most: int) -> LedgerEntry:
        """Return the entry with one more failed attempt; the scene, or its replacement, is given up after ``most``."""
        if self.replacing is not None:
            again = self.replacing
            count = again.attempts + 1
            reported = replace(again, attempts=count, reasons=(*again.reasons, reason), given_up=count >= most)
            return replace(self, replacing=reported)
        count = self.attempts + 1
        state: SceneState = "quarantined" if count >= most else self.state
        return replace(self, attempts=count, reasons=(*self.reasons, reason), state=state)

    @property
    def failures(self) -> tuple[str, ...]:
        """One line per failed attempt of the present or last flight."""
        return self.replacing.reasons if self.replacing is not None else self.reasons

    @property
    def given_up(self) -> bool:
        """Whether the scene, or its replacement, reached the limit of attempts."""
        return self.state == "quarantined" or (self.replacing is not None and self.replacing.given_up)


_TYPES: Final = {
    record: tuple((field.name, field.type) for field in fields(record))
    for record in (LedgerEntry, SceneFacts, Replacement)
}


def read_entry(output: Output, scene: str) -> LedgerEntry | None:
    """Return the scene's entry, or None if the scene never started.

    Raises:
        StorageError: the file is no valid ledger entry.
    """
    key = f"{LEDGER}/{check_name(scene, what='scene')}.json"
    data = output.read(key)
    return None if data is None else _parse(data, scene=scene, where=f"{output.address}/{key}")


def write_entry(output: Output, entry: LedgerEntry) -> None:
    """Write the entry atomically and durably."""
    output.replace(
        f"{LEDGER}/{check_name(entry.scene, what='scene')}.json", to_json_bytes({"version": _VERSION, **asdict(entry)})
    )


def read_ledger(output: Output) -> dict[str, LedgerEntry]:
    """Return all entries by scene name, sorted."""
    entries: dict[str, LedgerEntry] = {}
    for name, data in output.read_all(LEDGER).items():
        if name.endswith(".json"):
            entry = _parse(data, scene=name.removesuffix(".json"), where=f"{output.address}/{LEDGER}/{name}")
            entries[entry.scene] = entry
    return entries


def _parse(data: bytes, *, scene: str, where: str) -> LedgerEntry:
    try:
        values = parse_json(data)
        if not isinstance(values, dict):
            raise ValueError("not a JSON object")
        version = values.pop("version", None)
        if version != _VERSION:
            raise StorageError(f"{where} has entry version {version!a} of another version of uavsim; use that version")
        entry = _entry(values)
        _check(entry, scene=scene)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise StorageError(
            f"{where} is not a ledger entry of scene {scene!a} ({error}); restore it from a copy, or choose another --out"
        ) from error
    return entry


def _entry(values: dict[str, Any]) -> LedgerEntry:
    facts, again = values.pop("facts"), values.pop("replacing")
    return LedgerEntry(
        **values
        | {
            "reasons": _lines(values),
            "retired": tuple(values["retired"]),
            "facts": None if facts is None else SceneFacts(**facts),
            "replacing": None if again is None else Replacement(**{**again, "reasons": _lines(again)}),
        }
    )


def _check(entry: LedgerEntry, *, scene: str) -> None:
    """Verify the types and ranges of an entry.

    Raises:
        ValueError: a value is invalid.
    """
    if entry.scene != scene:
        raise ValueError(f"its scene is {entry.scene!r}")
    if entry.state not in get_args(SceneState):
        raise ValueError(f"unknown state {entry.state!r}")
    facts, again = entry.facts or SceneFacts(), entry.replacing or Replacement("")
    for owner in (entry, facts, again):
        for name, kind in _TYPES[type(owner)]:
            value = getattr(owner, name)
            if kind == "int" and not (type(value) is int and 0 <= value < _MOST_NUMBER):
                raise ValueError(f"{name} is out of range")
            if kind == "float" and not (type(value) in {int, float} and 0 <= value < _MOST_NUMBER):
                raise ValueError(f"{name} is out of range")
            if kind == "str" and not isinstance(value, str):
                raise ValueError(f"{name} is not a string")
    if not all(type(number) is int and 0 <= number < _MOST_NUMBER for number in entry.retired):
        raise ValueError("retired: a number is out of range")
    if type(again.given_up) is not bool:
        raise ValueError("given_up is not a boolean")


def _lines(values: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(line) for line in values["reasons"])
