"""CARLA's queries of a recording: frames, collisions and blocked actors.

The texts have CARLA's layout, for scripts that parse them. Numbers are formatted like those of C++ streams.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from headless_simulator.carla.recorder import files, layout
from headless_simulator.carla.recorder.layout import Arrival, Damaged
from headless_simulator.carla.recorder.packet_lines import EVENTS, ONLY_IN_FULL
from headless_simulator.carla.recorder.reader import Frame, Recording

_CATEGORIES: Final = "ovwtoo"  # by the actor's kind; signs and sensors are others
MOST_TEXT: Final = 16 << 20  # characters of one answer
_NOT_A_RECORDING: Final = "File is not a CARLA recorder\n"


def file_info(recording_path: files.RecordingPath, *, show_all: bool) -> str:
    """List the events of each frame; with ``show_all`` also all states."""
    return _answer(recording_path, lambda listing: _info_lines(listing, show_all))


def collisions(recording_path: files.RecordingPath, first: str, second: str) -> str:
    """List collisions between two kinds of actors: h hero, v vehicle, w walker, t traffic light, o other, a any."""
    return _answer(recording_path, lambda listing: _collision_lines(listing, first, second), rounded=True)


def blocked(recording_path: files.RecordingPath, min_time_s: float, min_distance_cm: float) -> str:
    """List actors that moved less than a distance in a time, longest duration first."""
    return _answer(recording_path, lambda listing: _blocked_lines(listing, min_time_s, min_distance_cm))


@dataclass(slots=True)
class _Listing:
    """State of a listing: the recording's frames and the last one."""

    recording: Recording
    last: Frame | None = None

    def frames(self) -> Iterator[Frame]:
        for frame in self.recording.frames():
            self.last = frame
            yield frame


def _answer(
    recording_path: files.RecordingPath, lines_of: Callable[[_Listing], Iterator[str]], *, rounded: bool = False
) -> str:
    file = files.open_existing(recording_path)
    if file is None:
        return f"File {recording_path.path} not found on server\n"
    try:
        recording = Recording(file)
    except Damaged:
        return _NOT_A_RECORDING
    listing = _Listing(recording)
    lines, length = [], 0
    damage: str | None = None
    try:
        for line in lines_of(listing):
            lines.append(line)
            length += len(line)
            if length > MOST_TEXT:
                lines.append(f"\nThe list is cut here: it is longer than {MOST_TEXT} characters")
                break
    except Damaged as problem:
        damage = str(problem)
    finally:
        recording.close()
    damage = damage or recording.damage
    if damage:
        lines.append(f"\nFile is damaged: {damage}")
    header = recording.header
    last_s = listing.last.elapsed_s if listing.last else 0.0
    # with a collision listed, CARLA's stream is still set to whole numbers here
    seconds = f"{last_s:.0f}" if rounded and len(lines) > 1 + bool(damage) else f"{last_s:g}"
    begin = f"Version: {header.version}\nMap: {header.town}\nDate: {_date(header.date_s)}\n\n"
    end = f"\nFrames: {listing.last.number if listing.last else 0}\nDuration: {seconds} seconds\n"
    return begin + "".join(f"{line}\n" for line in lines) + end


def _date(date_s: int) -> str:
    try:
        return time.strftime("%m/%d/%y %H:%M:%S", time.localtime(date_s))
    except (OverflowError, ValueError, OSError):
        return "unknown"


def _info_lines(listing: _Listing, show_all: bool) -> Iterator[str]:
    for frame in listing.frames():
        head = f"Frame {frame.number} at {frame.elapsed_s:g} seconds"
        if show_all:
            yield head
        is_headed = show_all
        for number, data in frame.packets:
            show = EVENTS.get(number) or (ONLY_IN_FULL.get(number) if show_all else None)
            for line in show(data) if show else ():
                if not is_headed:
                    yield head
                    is_headed = True
                yield line


def _collision_lines(listing: _Listing, first: str, second: str) -> Iterator[str]:
    yield f"{'Time':>8} {'Types':>6} {'Id':>6} {'Actor 1':<35} {'Id':>6} {'Actor 2':<35}"
    actors: dict[int, Arrival] = {}
    previous: set[tuple[int, int]] = set()
    for frame in listing.frames():
        current: set[tuple[int, int]] = set()
        _note_arrivals(frame, actors)
        for number, data in frame.packets:
            if number != layout.COLLISION:
                continue
            for _, a, b, hero_a, hero_b in layout.rows_of(data, layout.COLLISION_ROW, "a collision packet").tolist():
                kinds = _category(actors, a), _category(actors, b)
                if not (_matches(first, kinds[0], hero_a) and _matches(second, kinds[1], hero_b)):
                    continue
                if (a, b) not in previous:  # else it continues from the previous frame
                    names = [actors[i].blueprint if i in actors else "" for i in (a, b)]
                    types = f"  {kinds[0]} {kinds[1]} "
                    yield f"{frame.elapsed_s:>8.0f} {types} {a:>6} {names[0]:<35} {b:>6} {names[1]:<35}"
                current.add((a, b))
        previous = current


def _matches(kind: str, category: str, hero: int) -> bool:
    return kind in ("a", category) or (kind == "h" and bool(hero))


def _category(actors: dict[int, Arrival], actor_id: int) -> str:
    actor = actors.get(actor_id)
    return _CATEGORIES[actor.kind] if actor is not None and actor.kind < len(_CATEGORIES) else "o"


def _note_arrivals(frame: Frame, actors: dict[int, Arrival]) -> list[Arrival]:
    arrivals = [new for number, data in frame.packets if number == layout.EVENT_ADD for new in layout.arrivals(data)]
    actors.update((new.actor_id, new) for new in arrivals)
    return arrivals


@dataclass(slots=True)
class _Standstill:
    """How long an actor has been at its position."""

    name: str
    position_cm: tuple[float, ...] = (0.0, 0.0, 0.0)
    since_s: float = 0.0
    duration_s: float = 0.0

    def line(self, actor_id: int) -> str:
        return f"{self.since_s:>8.0f} {actor_id:>6} {self.name:<35} {self.duration_s:>10.0f}"


def _blocked_lines(listing: _Listing, min_time_s: float, min_distance_cm: float) -> Iterator[str]:
    yield f"{'Time':>8} {'Id':>6} {'Actor':<35} {'Duration':>10}"
    stands: dict[int, _Standstill] = {}
    found: list[tuple[float, str]] = []
    for frame in listing.frames():
        for new in _note_arrivals(frame, {}):
            stands[new.actor_id] = _Standstill(new.blueprint)
        for number, data in frame.packets:
            if number != layout.POSITION:
                continue
            for actor_id, location_cm, _ in layout.rows_of(data, layout.POSITION_ROW, "a position packet").tolist():
                stand = stands.setdefault(actor_id, _Standstill(""))
                if math.dist(stand.position_cm, location_cm) < min_distance_cm:
                    stand.since_s = stand.since_s if stand.duration_s else frame.elapsed_s
                    stand.duration_s += frame.duration_s
                    continue
                if stand.duration_s >= min_time_s:
                    found.append((stand.duration_s, stand.line(actor_id)))
                stand.duration_s, stand.position_cm = 0.0, tuple(location_cm)
    found += [(s.duration_s, s.line(actor_id)) for actor_id, s in sorted(stands.items()) if s.duration_s >= min_time_s]
    for _, line in sorted(found, key=lambda entry: -entry[0]):
        yield line
