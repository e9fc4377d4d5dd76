"""Items to ask, task by task: each is a question that reads alike for all items of its kind, and its answer.

Items of one kind whose answers differ exclude each other: one item's answer is wrong for all the others. ``draw`` makes a
question of four of them by asking for one, so that nothing in a question's text can say which.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from uavsim_benchmarks.labels.quality import NAMES
from uavsim_benchmarks.questions.facts import COUNTED_PX, Group, ObjectSeen, View

__all__ = ["TASKS", "Item", "Task"]

_SCORE_MARGIN: Final = 0.1  # in quality between the best image and the next
_SHARE_MARGIN: Final = 0.03  # of a share to the border between two answers
_PERCENT_MARGIN: Final = 3.0  # of an object's middle to the border of two parts of an image
_PX_MARGIN: Final = 1.3  # between the largest object of an image and the next
_WORDS: Final = {
    "image_loss": "lost images",
    "out_of_view": "out of view",
    "occluded": "occlusion",
    "too_small": "small size",
    "under_shadow": "shadow",
    "brightness": "bad light",
    "noise": "image noise",
    "blur": "blur",
}
_USABLE: Final = (
    (0.1, "No, hardly any can be perceived"),
    (0.35, "Barely: about one in four"),
    (0.65, "In part: every other one"),
    (0.9, "Mostly: three of four"),
    (1.01, "Fully: nearly all of them"),
)
_NEEDS: Final = (
    (1e-9, "No, it perceives what it has to"),
    (0.25, "Yes, for a few of the objects"),
    (0.5, "Yes: a quarter to half of them"),
    (0.75, "For more than half of them, yes"),
    (1.01, "Yes, nearly everything"),
)
_SECTORS: Final = ("ahead", "ahead right", "right", "behind right", "behind", "behind left", "left", "ahead left")
_COLUMNS: Final = ("left", "middle", "right")
_LINES: Final = ("upper", "centre", "lower")


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that may be asked.

    Attributes:
        kind: items of one kind may stand for each other.
        question: with {0}, {1} where the names of the UAVs go.
        key: of the answer; sorted keys say which answers are near each other.
        answer: in words; "" where the answer is a UAV.
        group: number of the group.
        subjects: drones that {0}, {1} name.
        choices: drones to choose from, the right one first, where the answer is a UAV.
    """

    kind: tuple[Hashable, ...]
    question: str
    key: tuple[int | str, ...]
    answer: str
    group: int
    subjects: tuple[int, ...]
    choices: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Task:
    """One of AirCopBench's tasks: its number and name, the prefix of its questions' ids, and what may be asked."""

    name: str
    prefix: str
    items: Callable[[int, Group], Iterator[Item]] = field(repr=False)
    near: bool = False
    """Draw wrong answers from those next to the right one: numbers."""
    needs: str = "four answers that differ, and images of two drones"
    """Without this a dataset has no question of it."""


def _description(number: int, group: Group) -> Iterator[Item]:
    for view in group.views:
        if view.doubtful or not view.surface:
            continue
        traffic = next(text for most, text in _TRAFFIC if _vehicles(view) <= most)
        walkers = "people on foot" if view.counts.get("pedestrian", 0) else "nobody on foot"
        text = f"mostly {_SURFACES[view.surface]}, {traffic}, {walkers}"
        question = f"Which description fits the image of {{0}}? {_WHAT_COUNTS}"
        yield Item(("description",), question, (text,), text, number, (view.drone,))


_WHAT_COUNTS: Final = f"Only what shows at least {COUNTED_PX} pixels counts."
_SURFACES: Final = {
    "road": "road",
    "pavement": "pavement",
    "built-up": "buildings and walls",
    "green": "plants",
    "bare ground": "bare ground",
    "water": "water",
    "sky": "sky",
}
_TRAFFIC: Final = (
    (0, "no vehicle"),
    (2, "one or two vehicles"),
    (6, "light traffic (3 to 6 vehicles)"),
    (12, "busy (7 to 12)"),
    (10**9, "crowded (13 or more)"),
)


def _comparison(number: int, group: Group) -> Iterator[Item]:
    for one in group.views:
        for other in group.views:
            if one.drone == other.drone or _vehicles_doubtful(one) or _vehicles_doubtful(other):
                continue
            more = _vehicles(one) - _vehicles(other)
            text = "as many" if more == 0 else f"{abs(more)} {'more' if more > 0 else 'fewer'}"
            question = f"How many vehicles does the image of {{0}} show compared with that of {{1}}? {_WHAT_COUNTS}"
            yield Item((group.scene,), question, (more,), text, number, (one.drone, other.drone))


def _posture(number: int, group: Group) -> Iterator[Item]:
    for one in group.views:
        for other in group.views:
            off_m = (one.place_m - other.place_m)[:2]
            away_m = float(np.linalg.norm(off_m))
            if one.drone == other.drone or away_m < 1.0:
                continue
            ahead = float(off_m @ other.heading)
            right = float(off_m @ np.array([other.heading[1], -other.heading[0]]))
            turn = np.degrees(np.arctan2(right, ahead)) % 360.0
            if abs((turn + 22.5) % 45.0 - 22.5) > 15.0:  # too near the border of two sectors
                continue
            sector, metres = round(turn / 45.0) % 8, max(5 * round(away_m / 5.0), 1)
            text = f"{metres} m {_SECTORS[sector]}"
            question = "Seen from {1}, where is {0}? Ahead means toward the top of the image of {1}."
            yield Item((group.scene,), question, (sector, metres), text, number, (one.drone, other.drone))


def _recognition(number: int, group: Group) -> Iterator[Item]:
    for view in group.views:
        for seen in view.objects:
            question = f"What is {_at(seen)} of the image of {{0}}?"
            yield Item(("class",), question, (seen.kind,), _a(seen.kind), number, (view.drone,))


def _counting(number: int, group: Group) -> Iterator[Item]:
    for view in group.views:
        walkers = view.counts.get("pedestrian", 0)
        for what, count, doubtful in (
            ("vehicles", _vehicles(view), _vehicles_doubtful(view)),
            ("pedestrians", walkers, "pedestrian" in view.doubtful),
        ):
            if doubtful:
                continue
            question = f"How many {what} does the image of {{0}} show? {_WHAT_COUNTS}"
            yield Item((group.scene, what), question, (count,), str(count), number, (view.drone,))


def _grounding(number: int, group: Group) -> Iterator[Item]:
    for view in group.views:
        for seen in view.objects:
            kind, (largest, second, *_) = seen.kind, (*view.sizes_px[seen.kind], 0)
            if seen.visible_px < largest or largest < _PX_MARGIN * second or _near_a_third(seen):
                continue
            place = (min(seen.y_percent * 3 // 100, 2), min(seen.x_percent * 3 // 100, 2))
            question = f"In which part of the image of {{0}} is the {kind} that takes most of it?"
            text = f"{_LINES[place[0]]} {_COLUMNS[place[1]]}"
            yield Item((group.scene, kind), question, place, text, number, (view.drone,))


def _matching(number: int, group: Group) -> Iterator[Item]:
    """Ask which one of four other images shows an object, too; nothing to ask where there are fewer."""
    for view in group.views:
        others = [other for other in group.views if other.drone != view.drone]
        for seen in view.objects:
            shows = [other.drone for other in others if seen.instance in other.seen]
            lacks = [other.drone for other in others if seen.instance not in other.seen]
            if len(shows) >= 1 and len(lacks) >= 3:
                question = f"The {seen.kind} {_at(seen)} of the image of {{0}}: which other image shows it, too?"
                choices = (shows[0], *lacks)
                yield Item((group.scene,), question, (), "", number, (view.drone,), choices)


def _quality(number: int, group: Group) -> Iterator[Item]:
    for view in group.views:
        question = "Which perception quality, 1 (very poor) to 5 (excellent), has the image of {0}?"
        text = f"{view.quality} ({NAMES[view.quality]})"
        yield Item(("level",), question, (view.quality,), text, number, (view.drone,))
    ranked = sorted(group.views, key=lambda view: -view.score)
    if len(ranked) >= 4 and ranked[0].score >= ranked[1].score + _SCORE_MARGIN:
        question = "Which image of these UAVs has the best perception quality: least noise and blur, best light?"
        yield Item((group.scene,), question, (), "", number, (), tuple(view.drone for view in ranked))


def _usability(number: int, group: Group) -> Iterator[Item]:
    for view in group.views:
        if view.in_view:
            place = _bin(view.perceived / view.in_view, _USABLE)
            if place < 0:
                continue
            question = "Is the image of {0} usable for perceiving the objects in it?"
            yield Item((), question, (place,), _USABLE[place][1], number, (view.drone,))


def _causal(number: int, group: Group) -> Iterator[Item]:
    for view in group.views:
        text = _causes(view.hindrances)
        if text:
            question = "What hinders {0} most, and what next, in perceiving the objects around it?"
            yield Item((), question, (text,), text, number, (view.drone,))


def _when(number: int, group: Group) -> Iterator[Item]:
    for view in group.views:
        if view.concerned:
            place = _bin(view.gained / view.concerned, _NEEDS)
            if place < 0:
                continue
            question = "Does {0} need another UAV now to perceive the objects around it?"
            yield Item((), question, (place,), _NEEDS[place][1], number, (view.drone,))


def _what(number: int, group: Group) -> Iterator[Item]:
    for view in group.views:
        if view.what and view.best >= 0:
            text = ", ".join(_several(kind, view.what[kind]) for kind in sorted(view.what))
            question = "Which objects should the UAV that sees most of what {0} lacks share with it?"
            yield Item((group.scene,), question, (text,), text, number, (view.drone,))


def _who(number: int, group: Group) -> Iterator[Item]:
    for view in group.views:
        others = [drone for drone in view.partners if drone != view.best]
        if view.best >= 0 and len(others) >= 3 and all(_there(group, drone) for drone in (view.best, *others)):
            question = "Whom should {0} ask, to perceive most of what it does not perceive alone?"
            yield Item((group.scene,), question, (), "", number, (view.drone,), (view.best, *others))


def _why(number: int, group: Group) -> Iterator[Item]:
    for view in group.views:
        for partner, reasons in view.why.items():
            text = _causes(reasons)
            if text and _there(group, partner):
                question = "What keeps {0} most, and what next, from perceiving the objects that {1} perceives better?"
                yield Item((), question, (text,), text, number, (view.drone, partner))


_UNEVEN: Final = "images of different quality: several weathers, as the dataset all-weather has"

TASKS: Final = (
    Task("1.1 Scene Description", "SD", _description),
    Task("1.2 Scene Comparison", "SC", _comparison, near=True),
    Task("1.3 Observing Posture", "OP", _posture),
    Task("2.1 Object Recognition", "OR", _recognition, needs="four classes: traffic: {blueprints: all, walkers: 30}"),
    Task("2.2 Object Counting", "OC", _counting, near=True),
    Task("2.3 Object Grounding", "OG", _grounding),
    Task("2.4 Object Matching", "OM", _matching, needs="five drones"),
    Task("3.1 Quality Assessment", "QA", _quality, needs=_UNEVEN),
    Task("3.2 Usability Assessment", "UA", _usability),
    Task("3.3 Causal Assessment", "CA", _causal),
    Task("4.1 When to Collaborate", "when2col", _when),
    Task("4.2 What to Collaborate", "what2col", _what),
    Task("4.3 Who to Collaborate", "who2col", _who, needs="five drones"),
    Task("4.4 Why to Collaborate", "why2col", _why),
)


def _vehicles(view: View) -> int:
    return sum(count for kind, count in view.counts.items() if kind != "pedestrian")


def _vehicles_doubtful(view: View) -> bool:
    return bool(view.doubtful - {"pedestrian"})


def _near_a_third(seen: ObjectSeen) -> bool:
    """Return whether an object lies on the border of two of an image's nine parts."""
    away = (abs(at - border) for at in (seen.x_percent, seen.y_percent) for border in (33.3, 66.7))
    return any(percent < _PERCENT_MARGIN for percent in away)


def _at(seen: ObjectSeen) -> str:
    return f"{seen.x_percent} % from the left, {seen.y_percent} % from the top"


def _a(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _several(kind: str, count: int) -> str:
    return f"{count} {kind if count == 1 else 'buses' if kind == 'bus' else kind + 's'}"


def _causes(ranked: Sequence[tuple[str, int]]) -> str:
    """Return the first and second cause in words; "" where two are as frequent."""
    if any(one[1] == other[1] for one, other in itertools.pairwise(ranked[:3])):
        return ""
    words = [_WORDS[name] for name, _ in ranked[:2]]
    return f"only {words[0]}" if len(words) == 1 else ", then ".join(words)


def _bin(share: float, bins: Sequence[tuple[float, str]]) -> int:
    """Return which answer a share belongs to, -1 where it is near the border of two; none and all are exact."""
    if 0.0 < share < 1.0 and any(abs(share - below) < _SHARE_MARGIN for below, _ in bins):
        return -1
    return next(place for place, (below, _) in enumerate(bins) if share < below)


def _there(group: Group, drone: int) -> bool:
    return any(view.drone == drone for view in group.views)
