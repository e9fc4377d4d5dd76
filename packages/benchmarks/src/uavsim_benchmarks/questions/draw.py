"""Draw questions of four items with mutually exclusive answers, of which one is correct.

Each of the four items is equally likely, so that the text of a question does not reveal its answer. This also holds when items
run short, because an answer is an option only while it can still be correct. UAVs get new names in every question. The
letter of the correct answer is drawn independently; with equal counts a model could infer the rest.
"""

import difflib
import itertools
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from uavsim.typing import JsonDict
from uavsim_benchmarks.questions.facts import Group
from uavsim_benchmarks.questions.items import Item, Task

LETTERS: Final = "ABCD"
MOST_ALIKE: Final = 0.85
"""Highest similarity of two options by ``difflib``; AirCopBench's limit."""
_OPTIONS: Final = 4
_NEAREST: Final = 7  # adjacent answers to draw four from
_TRIES: Final = 60  # draws per requested question


@dataclass(frozen=True, slots=True)
class Drawn:
    """A drawn item with four texts, of which the first is correct."""

    item: Item
    options: tuple[str, ...]


class _Pool:
    """Items of one kind by answer; each is used once."""

    def __init__(self, items: Sequence[Item], rng: np.random.Generator) -> None:
        self.waiting: dict[tuple[int | str, ...], list[Item]] = {}
        for index in rng.permutation(len(items)):
            self.waiting.setdefault(items[index].key, []).append(items[index])
        self.keys = sorted(self.waiting)
        """Answers with unused items."""

    def take(self, keys: Sequence[tuple[int | str, ...]], rng: np.random.Generator) -> tuple[Item, list[str]]:
        """Choose one of four answers as the correct one, with equal probability; returns its item and the other answers."""
        chosen = keys[int(rng.integers(len(keys)))]
        wrong = [self.waiting[key][-1].answer for key in keys if key != chosen]
        item = self.waiting[chosen].pop()
        if not self.waiting[chosen]:
            self.keys.remove(chosen)
        return item, wrong


def draw_task(
    task: Task, groups: Sequence[Group], *, count: int, dataset: str, rng: np.random.Generator
) -> list[JsonDict]:
    """Return up to ``count`` questions of a task, in AirCopBench's form.

    Args:
        task: the task.
        groups: groups of images.
        count: maximum number of questions.
        dataset: name of the dataset, for the questions' ids.
        rng: generator of this task.
    """
    drawn = _drawn(task, groups, count=count, rng=rng)
    positions = rng.integers(_OPTIONS, size=len(drawn)).tolist()
    return [
        _question(task, groups[found.item.group], found, number=number, position=position, dataset=dataset, rng=rng)
        for number, (found, position) in enumerate(zip(drawn, positions, strict=True), start=1)
    ]


def _drawn(task: Task, groups: Sequence[Group], *, count: int, rng: np.random.Generator) -> list[Drawn]:
    items = [item for number, group in enumerate(groups) for item in task.items(number, group)]
    kinds: dict[Hashable, list[Item]] = {}
    for item in items:
        if not item.choices:
            kinds.setdefault(item.kind, []).append(item)
    pools = [pool for pool in (_Pool(members, rng) for members in kinds.values()) if len(pool.keys) >= _OPTIONS]
    named = [item for item in items if item.choices]
    found: list[Drawn] = []
    for _ in range(_TRIES * count):
        if len(found) == count or not (pools or named):
            break
        if named and (not pools or rng.random() < 0.5):
            item = named.pop(int(rng.integers(len(named))))
            wrong = rng.choice(item.choices[1:], _OPTIONS - 1, replace=False)
            found.append(Drawn(item, (_name(item.choices[0]), *map(_name, wrong.tolist()))))
            continue
        pool = pools[int(rng.integers(len(pools)))]
        keys = _four(pool.keys, near=task.near, rng=rng)
        if not too_alike([pool.waiting[key][-1].answer for key in keys]):
            item, wrong_answers = pool.take(keys, rng)
            found.append(Drawn(item, (item.answer, *wrong_answers)))
            if len(pool.keys) < _OPTIONS:
                pools.remove(pool)
    return found


def _four(keys: list[tuple[int | str, ...]], *, near: bool, rng: np.random.Generator) -> list[tuple[int | str, ...]]:
    if near and len(keys) > _NEAREST:
        start = int(rng.integers(len(keys) - _NEAREST + 1))
        keys = keys[start : start + _NEAREST]
    return [keys[index] for index in rng.choice(len(keys), _OPTIONS, replace=False)]


def too_alike(options: Sequence[str]) -> bool:
    """Return whether two options are nearly equal; ``difflib`` is not symmetric, so both orders are compared."""
    return any(_likeness(one, other) > MOST_ALIKE for one, other in itertools.permutations(options, 2))


@lru_cache(maxsize=1 << 16)
def _likeness(one: str, other: str) -> float:
    """Return the similarity of two texts, cached because a task has few answers."""
    return difflib.SequenceMatcher(None, one, other).ratio()


def _name(drone: int) -> str:
    """Return the placeholder of a drone's name."""
    return f"<{drone}>"


def _question(
    task: Task, group: Group, found: Drawn, *, number: int, position: int, dataset: str, rng: np.random.Generator
) -> JsonDict:
    """Name the UAVs, order the options, and format the question."""
    order = rng.permutation(len(group.views))
    name_of = {group.views[view].drone: f"UAV{index + 1}" for index, view in enumerate(order)}
    item = found.item
    names = [name_of[drone] for drone in item.subjects]
    texts = [_filled(text, name_of).format(*names) for text in found.options]
    wrong = [texts[1:][index] for index in rng.permutation(_OPTIONS - 1)]
    options = [*wrong[:position], texts[0], *wrong[position:]]
    subject = names[0] if names else "all"
    files = {name_of[group.views[view].drone]: group.views[view].filename for view in order}
    return {
        "sequence_frame": group.frame,
        "question_id": f"{dataset}_{task.prefix}_{subject}_{number}",
        "question_type": f"{task.name} ({subject})" if names else task.name,
        "question": item.question.format(*names),
        "options": dict(zip(LETTERS, options, strict=True)),
        "correct_answer": LETTERS[position],
        "uav_paths": files,
        "source": "Rule-Based",
    }


def _filled(text: str, name_of: dict[int, str]) -> str:
    return name_of[int(text[1:-1])] if text.startswith("<") and text.endswith(">") else text
