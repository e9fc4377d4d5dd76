"""Items of each task: a question with the same text for all items of its kind, and its answer.

Items of one kind with different answers are mutually exclusive. ``draw`` makes a question of four of them, so that its text
does not reveal the answer. Items are made only where all people give the same answer; each limit below has a margin.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from uavsim_benchmarks.questions.facts import COUNTED_PX, DOUBTFUL_PX, Group, ImageFacts, ImageObject

_SCORE_MARGIN: Final = 1.0  # steps of quality between the best image and the next
_PERCENT_MARGIN: Final = 4.0  # of an object's middle to the border of two parts of an image
_PX_MARGIN: Final = 1.5  # between the largest object of an image and the next
_DEGREES: Final = 15.0  # off the middle of a sector of 45, at most
_COUNTS: Final = (0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22)
"""Counts in questions, spaced so that an error of one still leads to the right option."""
_DIFFERENCES: Final = (0, 3, 6, 10)
"""Differences of counts in questions, at least three apart for the same reason."""
_COMMON: Final = 2  # objects that two images both show whole, for questions on a drone's direction
_MOST_COUNTED: Final = 6  # objects that two images are compared by
_WHOLE: Final = 0.1  # largest hidden or cut-off share of a whole object
_NOT_WHOLE: Final = 0.4  # smallest share of an object that is not whole
_OVERLOOKED: Final = 0.75  # hidden share from which on many people overlook an object
_MERELY_CUT: Final = 0.5  # cut-off share from which on many people ignore an object
_PLAIN_PX: Final = 250  # of what nothing hinders
_SMALL_PX: Final = 40  # of what is too small, at most
_MOST_HELP: Final = 1.5  # ratio to the vehicles that the next partner adds
_TAKEN_FOR: Final = {"car": ("car", "vehicle"), **dict.fromkeys(("truck", "bus"), ("car", "truck", "bus", "vehicle"))}
"""Kinds that people may confuse with each other, such as a large van and a truck."""
_SECTORS: Final = ("ahead", "ahead right", "right", "behind right", "behind", "behind left", "left", "ahead left")
_COLUMNS: Final = ("left", "middle", "right")
_LINES: Final = ("upper", "centre", "lower")
_WHAT_COUNTS: Final = f"Only what shows at least {COUNTED_PX} pixels counts."
_NEEDS: Final = (
    f"How many vehicles does {{0}} need {{1}} for: in the image of {{1}}, not in that of {{0}}? {_WHAT_COUNTS}"
)
_REPORTS: Final = (
    f"What should {{1}} report to {{0}}: vehicles in the image of {{1}}, not in that of {{0}}? {_WHAT_COUNTS}"
)
_ASKS: Final = (
    f"Whom should {{0}} ask: whose image shows most vehicles that the image of {{0}} does not? {_WHAT_COUNTS}"
)


@dataclass(frozen=True, slots=True)
class Item:
    """One possible question.

    Attributes:
        kind: items of one kind can be combined in a question.
        question: text with {0}, {1} for the names of the UAVs.
        key: sortable key of the answer; near answers have near keys.
        answer: text with {0}, {1} as above; "" where the answer is a UAV.
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
    """One of AirCopBench's tasks: its number and name, the prefix of its questions' ids, and its items."""

    name: str
    prefix: str
    items: Callable[[int, Group], Iterator[Item]] = field(repr=False)
    near: bool = False
    """Draw wrong answers near the right one."""
    needs: str = "four answers that differ, and images of two drones"
    """Requirement on a dataset."""


_SURFACES: Final = {
    "road": "road",
    "open ground": "open ground (paved, bare or grass)",
    "built-up": "buildings and walls",
    "plants": "trees and bushes",
    "water": "water",
    "sky": "sky",
}
_TRAFFIC: Final = (
    ("no vehicle", (0,)),
    ("1 or 2 vehicles", (1, 2)),
    ("light traffic (3 to 6 vehicles)", (4, 5)),
    ("busy (7 to 12 vehicles)", (8, 9, 10, 11)),
    ("crowded (13 vehicles or more)", range(15, 1000)),
)
"""Descriptions of traffic, and the unambiguous counts of each."""


def _description(number: int, group: Group) -> Iterator[Item]:
    for view in group.views:
        vehicles = _count(view)
        traffic = next((text for text, counts in _TRAFFIC if vehicles in counts), "")
        if view.surface and traffic:
            text = f"mostly {_SURFACES[view.surface]}, {traffic}"
            question = f"Which description fits the image of {{0}}? {_WHAT_COUNTS}"
            yield Item(("description",), question, (text,), text, number, (view.drone,))


def _comparison(number: int, group: Group) -> Iterator[Item]:
    counts = {view.drone: _count(view) for view in group.views}
    for one, other in _pairs(group):
        one_count, other_count = counts[one.drone], counts[other.drone]
        difference = one_count - other_count
        if one_count >= 0 and other_count >= 0 and abs(difference) in _DIFFERENCES:
            text = "as many" if difference == 0 else f"{abs(difference)} {'more' if difference > 0 else 'fewer'}"
            question = f"How many vehicles does the image of {{0}} show compared with that of {{1}}? {_WHAT_COUNTS}"
            yield Item((), question, (difference,), text, number, (one.drone, other.drone))


def _posture(number: int, group: Group) -> Iterator[Item]:
    for one, other in _pairs(group):
        off_m = (one.position_m - other.position_m)[:2]
        away_m = float(np.linalg.norm(off_m))
        if away_m < 1.0 or _common(one, other) < _COMMON:
            continue
        ahead = float(off_m @ other.heading)
        right = float(off_m @ np.array([other.heading[1], -other.heading[0]]))
        turn = np.degrees(np.arctan2(right, ahead)) % 360.0
        if abs((turn + 22.5) % 45.0 - 22.5) > _DEGREES:
            continue
        sector, metres = round(turn / 45.0) % 8, max(5 * round(away_m / 5.0), 1)
        text = f"{metres} m {_SECTORS[sector]}"
        question = "Seen from {1}, where is {0}? Ahead means toward the top of the image of {1}."
        yield Item((group.scene,), question, (sector, metres), text, number, (one.drone, other.drone))


def _recognition(number: int, group: Group) -> Iterator[Item]:
    for view in group.views:
        for obj in _nameable(view, least_px=COUNTED_PX):
            question = f"What is {_coords(obj)} of the image of {{0}}?"
            yield Item(("class",), question, (obj.kind,), f"a {obj.kind}", number, (view.drone,))


def _counting(number: int, group: Group) -> Iterator[Item]:
    for view in group.views:
        for kind, walkers in (("vehicles", False), ("pedestrians", True)):
            count = _count(view, walkers=walkers)
            if count in _COUNTS:
                question = f"How many {kind} does the image of {{0}} show? {_WHAT_COUNTS}"
                yield Item((kind,), question, (count,), str(count), number, (view.drone,))


def _grounding(number: int, group: Group) -> Iterator[Item]:
    for view in group.views:
        for obj in view.objects:
            alike = _TAKEN_FOR.get(obj.kind, (obj.kind,))
            others = [other.visible_px for other in view.objects if other.kind in alike and other is not obj]
            largest = obj.visible_px >= max(DOUBTFUL_PX[1], _PX_MARGIN * max(others, default=0))
            if obj.kind == "vehicle" or not view.is_clear or not largest or not _is_plain(obj) or _near_a_third(obj):
                continue
            cell = (min(obj.y_percent * 3 // 100, 2), min(obj.x_percent * 3 // 100, 2))
            question = f"Where in the image of {{0}} is the {obj.kind} that takes up most of it?"
            text = f"{_LINES[cell[0]]} {_COLUMNS[cell[1]]}"
            yield Item((obj.kind,), question, cell, text, number, (view.drone,))


def _matching(number: int, group: Group) -> Iterator[Item]:
    """Yield questions for the one of four other images that shows an object; none with fewer images."""
    for view in group.views:
        others = [other for other in group.views if other.drone != view.drone]
        for obj in _nameable(view):
            answers = {other.drone: _shows(other, obj) for other in others}
            shows = [drone for drone, answer in answers.items() if answer is True]
            lacks = [drone for drone, answer in answers.items() if answer is False]
            if len(shows) == 1 and len(lacks) >= 3:
                question = f"The {obj.kind} {_coords(obj)} of the image of {{0}}: which other image shows it, too?"
                yield Item((), question, (), "", number, (view.drone,), (shows[0], *lacks))


_FAULTS: Final = {
    "none": "good: sharp, free of noise and well lit",
    "dark": "too dark",
    "bright": "too bright",
    "flat": "little contrast, as in fog",
    "noisy": "noisy: grains all over it",
    "blurred": "blurred: no sharp edge",
}


def _quality(number: int, group: Group) -> Iterator[Item]:
    for view in group.views:
        if view.fault:
            question = "Which words fit the quality of the image of {0}?"
            yield Item(("fault",), question, (view.fault,), _FAULTS[view.fault], number, (view.drone,))
    ranked = sorted(group.views, key=lambda view: -view.score)
    if len(ranked) >= 4 and ranked[0].score >= ranked[1].score + _SCORE_MARGIN:
        question = "Which image has the best quality: least noise, least blur, best light?"
        yield Item((), question, (), "", number, (), tuple(view.drone for view in ranked))


def _usability(number: int, group: Group) -> Iterator[Item]:
    for view in group.views:
        count = _count(view)
        counted = [obj for obj in view.visible(walkers=False) if obj.visible_px >= COUNTED_PX]
        whole = sum(_is_whole(obj) for obj in counted)
        halved = sum(max(obj.hidden, obj.cut) >= _NOT_WHOLE for obj in counted)
        if 0 < count <= _MOST_COUNTED and whole + halved == count:
            question = f"How many of the vehicles in the image of {{0}} does it show whole? {_WHAT_COUNTS}"
            yield Item((), question, (count, whole), f"{whole or 'none'} of {count}", number, (view.drone,))


def _causal(number: int, group: Group) -> Iterator[Item]:
    for view in group.views:
        for obj in view.objects:
            text = _hindrance(view, obj) if obj.alone and obj.kind != "vehicle" else ""
            if text:
                question = f"What hinders {{0}} most in making out the {obj.kind} {_coords(obj)} of its image?"
                yield Item((), question, (text,), text, number, (view.drone,))


def _hindrance(view: ImageFacts, obj: ImageObject) -> str:
    """Return the main cause of poor visibility in words; "" where ambiguous."""
    if obj.visible_px < DOUBTFUL_PX[0] or obj.cut > 0.0 or not obj.stands_out:
        return ""
    if view.fault in {"dark", "noisy", "blurred"} and _is_whole(obj) and obj.visible_px >= DOUBTFUL_PX[1]:
        return {"dark": "the dark", "noisy": "noise", "blurred": "blur"}[view.fault]
    if not view.is_clear:
        return ""
    if obj.hidden >= _NOT_WHOLE and obj.visible_px >= COUNTED_PX:
        return "something hides a good part of it"
    if obj.hidden > _WHOLE:
        return ""
    if obj.visible_px <= _SMALL_PX:
        return f"it is small: less than {COUNTED_PX} pixels"
    if obj.visible_px < _PLAIN_PX:
        return ""
    return "nothing"


def _when(number: int, group: Group) -> Iterator[Item]:
    for one, other in _pairs(group):
        missing = _missing(one, other)
        if missing is not None:
            count, lacks = _count(other), len(missing)
            yield Item((), _NEEDS, (count, lacks), f"{lacks or 'none'} of {count}", number, (one.drone, other.drone))


def _what(number: int, group: Group) -> Iterator[Item]:
    for one, other in _pairs(group):
        missing = _missing(one, other)
        if missing and all(obj.kind != "vehicle" for obj in missing):
            kinds = Counter(obj.kind for obj in missing)
            text = ", ".join(_several(kind, kinds[kind]) for kind in sorted(kinds))
            yield Item((), _REPORTS, (text,), text, number, (one.drone, other.drone))


def _who(number: int, group: Group) -> Iterator[Item]:
    for view in group.views:
        adds = {}
        for other in group.views:
            vehicles = [one for one in other.visible(walkers=False) if one.visible_px >= COUNTED_PX]
            answers = [_shows(view, one) for one in vehicles]
            if other.drone != view.drone and _count(other) >= 0:
                adds[other.drone] = answers.count(False), answers.count(False) + answers.count(None)
        ranked = sorted(adds, key=lambda drone: -adds[drone][0])
        if len(ranked) < 4 or not view.is_clear:
            continue
        sure, next_best = adds[ranked[0]][0], max(adds[drone][1] for drone in ranked[1:])
        if sure >= max(_MOST_HELP * next_best, next_best + 2):
            yield Item((), _ASKS, (), "", number, (view.drone,), tuple(ranked))


def _why(number: int, group: Group) -> Iterator[Item]:
    for one, other in _pairs(group):
        for obj in _nameable(other) if one.is_clear else ():
            text = _reason(one, obj)
            if text:
                question = f"What keeps {{0}} from seeing the {obj.kind} that is {_coords(obj)} of the image of {{1}}?"
                yield Item((), question, (text,), text, number, (one.drone, other.drone))


def _reason(view: ImageFacts, obj: ImageObject) -> str:
    """Return the reason why an image does not show an object of another image; "" if ambiguous."""
    local = next((each for each in view.objects if each.instance == obj.instance), None)
    if local is None:
        return "it is outside of {0}'s image"
    if local.visible_px == 0:
        return "something hides it from {0}" if local.cut == 0.0 else ""
    if local.visible_px < DOUBTFUL_PX[1] or not local.stands_out:
        return ""
    if local.hidden > _WHOLE:
        return "something hides a part of it from {0}" if local.hidden >= _NOT_WHOLE and local.cut == 0.0 else ""
    if local.cut >= _NOT_WHOLE:
        return "the border of {0}'s image cuts it off"
    return "nothing: {0} shows it whole" if local.cut == 0.0 else ""


_CLASSES: Final = (
    "four classes: traffic: {blueprints: [all, vehicle.yamaha.yzf, vehicle.bh.crossbike]}, and drones below 50 m"
)

TASKS: Final = (
    Task("1.1 Scene Description", "SD", _description),
    Task("1.2 Scene Comparison", "SC", _comparison, near=True),
    Task("1.3 Observing Posture", "OP", _posture),
    Task("2.1 Object Recognition", "OR", _recognition, needs=_CLASSES),
    Task("2.2 Object Counting", "OC", _counting, near=True),
    Task("2.3 Object Grounding", "OG", _grounding),
    Task("2.4 Object Matching", "OM", _matching, needs="five drones, and objects that one other of them shows"),
    Task("3.1 Quality Assessment", "QA", _quality, needs="images of several qualities: degradations: {uneven: true}"),
    Task("3.2 Usability Assessment", "UA", _usability),
    Task("3.3 Causal Assessment", "CA", _causal, needs="vehicles in the open, half hidden, far away, and in the dark"),
    Task("4.1 When to Collaborate", "when2col", _when),
    Task("4.2 What to Collaborate", "what2col", _what),
    Task("4.3 Who to Collaborate", "who2col", _who, needs="five drones, one of which adds far more than each other"),
    Task("4.4 Why to Collaborate", "why2col", _why),
)


def _pairs(group: Group) -> Iterator[tuple[ImageFacts, ImageFacts]]:
    return ((one, other) for one in group.views for other in group.views if one.drone != other.drone)


def _count(view: ImageFacts, *, walkers: bool = False) -> int:
    """Return the number of vehicles, or pedestrians, in an image; -1 where ambiguous."""
    objects = [obj for obj in view.visible(walkers=walkers) if obj.visible_px >= DOUBTFUL_PX[0]]
    doubtful = any(
        obj.visible_px < DOUBTFUL_PX[1] or obj.hidden > _OVERLOOKED or obj.cut > _MERELY_CUT or not obj.stands_out
        for obj in objects
    )
    return -1 if doubtful or not view.is_clear else len(objects)


def _shows(view: ImageFacts, obj: ImageObject) -> bool | None:
    """Return whether an image shows an object of another image; None where ambiguous."""
    local = next((each for each in view.objects if each.instance == obj.instance and each.visible_px), None)
    if not view.is_clear or (local is not None and not (local.visible_px >= DOUBTFUL_PX[1] and local.stands_out)):
        return None
    return local is not None


def _common(one: ImageFacts, other: ImageFacts) -> int:
    """Return the number of objects that both images show completely."""
    one_ids, other_ids = ({obj.instance for obj in view.objects if _is_plain(obj)} for view in (one, other))
    return len(one_ids & other_ids) if one.is_clear and other.is_clear else 0


def _missing(view: ImageFacts, other: ImageFacts) -> list[ImageObject] | None:
    """Return the vehicles that only the other image shows; None where ambiguous."""
    if not 0 < _count(other) <= _MOST_COUNTED:
        return None
    vehicles = [obj for obj in other.visible(walkers=False) if obj.visible_px >= COUNTED_PX]
    answers = [_shows(view, obj) for obj in vehicles]
    return None if None in answers else [obj for obj, answer in zip(vehicles, answers, strict=True) if not answer]


def _nameable(view: ImageFacts, *, least_px: int = DOUBTFUL_PX[1]) -> list[ImageObject]:
    """Return the objects identified by position: completely visible and alone."""
    return [
        obj
        for obj in view.objects
        if obj.alone
        and view.is_clear
        and _is_whole(obj)
        and obj.visible_px >= least_px
        and obj.kind != "vehicle"
        and obj.stands_out
    ]


def _is_whole(obj: ImageObject) -> bool:
    return max(obj.hidden, obj.cut) <= _WHOLE


def _is_plain(obj: ImageObject) -> bool:
    """Return whether an object is easy to find: complete, large, and with distinct colours."""
    return _is_whole(obj) and obj.visible_px >= DOUBTFUL_PX[1] and obj.stands_out


def _near_a_third(obj: ImageObject) -> bool:
    """Return whether an object lies near a border between the nine parts of an image."""
    centre_percent = (obj.x_percent, obj.y_percent)
    return any(abs(one - border) < _PERCENT_MARGIN for one in centre_percent for border in (33.3, 66.7))


def _coords(obj: ImageObject) -> str:
    return f"{obj.x_percent} % from the left, {obj.y_percent} % from the top"


def _several(kind: str, count: int) -> str:
    return f"{count} {kind if count == 1 else 'buses' if kind == 'bus' else kind + 's'}"
