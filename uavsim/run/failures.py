"""Scenes in quarantine: every failed attempt, from the ledger and the scene's log, and the last image."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from uavsim.files.logs import tail_of
from uavsim.files.parse import parse_json
from uavsim.run.overview import overview
from uavsim.store.evidence import last_image
from uavsim.store.layout import OutLayout
from uavsim.store.ledger import LedgerEntry
from uavsim.store.places import open_output

_LINES = 1000


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """One failed attempt.

    Attributes:
        at: time, UTC, ISO 8601; "" if the log lacks it.
        simulator: name of the simulator; "" without one or if the log lacks it.
        reason: error in one line.
    """

    at: str
    simulator: str
    reason: str


@dataclass(frozen=True, slots=True)
class FailedScene:
    """A scene in quarantine.

    Attributes:
        scene: name of the scene.
        index: scene number in the dataset.
        attempts: oldest first.
        last_image: path of the last colour image of the last attempt; "" without one.
    """

    scene: str
    index: int
    attempts: tuple[FailedAttempt, ...]
    last_image: str


def failed_scenes(out: str) -> list[FailedScene]:
    """Return the scenes in quarantine, in order of their numbers.

    Raises:
        InputError: the folder has no dataset of a run.
        StorageError: a log or the ledger cannot be read.
    """
    root = open_output(out).root
    return [
        FailedScene(
            scene=entry.scene,
            index=entry.index,
            attempts=_attempts(entry, tail_of(OutLayout(root).scene_log(entry.scene), lines=_LINES)),
            last_image=str(last_image(root, entry.scene) or ""),
        )
        for entry in overview(out).quarantined
    ]


def _attempts(entry: LedgerEntry, log: str) -> tuple[FailedAttempt, ...]:
    found: list[tuple[str, str]] = []
    simulator = ""
    for event in _events(log):
        if event["event"] in ("start", "flying"):
            simulator = str(event.get("slot", ""))
        elif event["event"] == "failed":
            at = datetime.fromtimestamp(event["time"], tz=UTC).isoformat(timespec="seconds")
            found.append((at, simulator))
    known = [("", "")] * len(entry.failures) + found
    last = known[len(known) - len(entry.failures) :]
    return tuple(FailedAttempt(*where, reason) for where, reason in zip(last, entry.failures, strict=True))


def _events(log: str) -> Iterator[dict[str, Any]]:
    for row in log.splitlines():
        with suppress(ValueError):  # a long log starts in the middle of a line; a power failure truncates the last line
            event = parse_json(row)
            if isinstance(event, dict) and {"event", "time"} <= event.keys():
                yield event
