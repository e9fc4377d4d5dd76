"""The ledger: one small file per scene, written atomically, is the truth about what is done.

``flying`` is written before anything of the scene is; ``committed`` is written last of all, so its rename is the commit
point; ``quarantined`` keeps why the scene was given up. A ``flying`` entry whose scene nobody holds was interrupted.
A committed scene that is flown again stays committed; ``replacing`` says how that goes.
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
    """The circumstances of a committed scene's flight; for people and summaries.

    Attributes:
        vehicles: that spawned.
        vehicles_asked: that the plan asked for.
        walkers: that spawned.
        moved_in_warmup: share of the vehicles that no light held which moved; None where none was watched.
        moved_in_scene: likewise.
        traffic_retry: how often it was flown before with traffic that stood still; each time another seed drew the traffic.
        samples: keyframes.
        images: RGB images.
        images_drawn: images of all kinds that the server sent, those included that cameras drew to settle.
        images_per_s: while it flew.
        fly_s: seconds in the simulator, without the waiting for one.
        label_s: seconds of labelling.
        core_s: processor seconds of client, labels, and of a simulator that the run started as a process.
        slot: the simulator slot that flew it.
        machine: its host's name.
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
    """The state of flying a committed scene again.

    Attributes:
        plan_sha256: of the plan that is flown.
        attempts: failed ones.
        reasons: one line per failed attempt, oldest first.
        given_up: it failed as often as it may; the committed scene stays.
    """

    plan_sha256: str
    attempts: int = 0
    reasons: tuple[str, ...] = ()
    given_up: bool = False


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """The recorded state of one scene.

    Attributes:
        scene: its name.
        state: see the module.
        index: its number in the dataset, the order of the tables.
        town: for grouping in tables.
        plan_sha256: of the packed plan that was flown; another plan under the same name is another scene.
        attempts: failed attempts since the scene was last committed or forced.
        lost_s: seconds in simulators of all attempts that failed and lived to say so.
        reasons: one line per failed attempt, oldest first.
        facts: how it was flown; None until it is committed.
        generation: of the committed files; a scene that was replaced by other files has another.
        retired: generations that were replaced and that tables may still name.
        replacing: set while, and after it failed for good, a committed scene is flown again.
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
        """Count one more failed attempt; the scene, or its replacement, is given up after ``most``."""
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
        """One line per failed attempt at what is, or was last, being flown."""
        return self.replacing.reasons if self.replacing is not None else self.reasons

    @property
    def given_up(self) -> bool:
        """Return whether the scene, or its replacement, failed as often as it may."""
        return self.state == "quarantined" or (self.replacing is not None and self.replacing.given_up)


_TYPES: Final = {
    record: tuple((field.name, field.type) for field in fields(record))
    for record in (LedgerEntry, SceneFacts, Replacement)
}


def read_entry(output: Output, scene: str) -> LedgerEntry | None:
    """Return the scene's entry, or None when the scene never started.

    Raises:
        StorageError: the file is not a ledger entry: the disk or somebody changed it.
    """
    key = f"{LEDGER}/{check_name(scene, what='scene')}.json"
    data = output.read(key)
    return None if data is None else _parse(data, scene=scene, where=f"{output.address}/{key}")


def write_entry(output: Output, entry: LedgerEntry) -> None:
    """Write the entry whole; when this returns it survives a power cut."""
    output.replace(
        f"{LEDGER}/{check_name(entry.scene, what='scene')}.json", to_json_bytes({"version": _VERSION, **asdict(entry)})
    )


def read_ledger(output: Output) -> dict[str, LedgerEntry]:
    """Return every entry by scene name, in order of name."""
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
            raise ValueError("no JSON object")
        version = values.pop("version", None)
        if version != _VERSION:
            raise StorageError(f"{where} is of another version of uavsim (entry version {version!a}); use that version")
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
    """Hold an entry against its types.

    Raises:
        ValueError: says what is wrong.
    """
    if entry.scene != scene:
        raise ValueError(f"it is of {entry.scene!r}")
    if entry.state not in get_args(SceneState):
        raise ValueError(f"unknown state {entry.state!r}")
    facts, again = entry.facts or SceneFacts(), entry.replacing or Replacement("")
    for owner in (entry, facts, again):
        for name, kind in _TYPES[type(owner)]:
            value = getattr(owner, name)
            if kind == "int" and not (type(value) is int and 0 <= value < _MOST_NUMBER):
                raise ValueError(f"{name} is out of its range")
            if kind == "float" and not (type(value) in {int, float} and 0 <= value < _MOST_NUMBER):
                raise ValueError(f"{name} is out of its range")
            if kind == "str" and not isinstance(value, str):
                raise ValueError(f"{name} is no text")
    if not all(type(number) is int and 0 <= number < _MOST_NUMBER for number in entry.retired):
        raise ValueError("retired: a number is out of its range")
    if type(again.given_up) is not bool:
        raise ValueError("given_up is neither true nor false")


def _lines(values: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(line) for line in values["reasons"])
