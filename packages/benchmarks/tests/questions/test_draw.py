"""Each of four items is equally likely, so that a question's text does not reveal its answer."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from questions.groups import make_group
from uavsim_benchmarks.questions.draw import LETTERS, draw_task, too_alike
from uavsim_benchmarks.questions.items import TASKS, Item, Task


def numbers(number, group):
    """Return items with a number that is small in nine of ten cases: a prior that must not appear in questions."""
    for view in group.views:
        value = number % 10 if number % 2 else number % 3
        yield Item((), "How many does {0} show?", (value,), str(value), number, (view.drone,))


GROUPS = [make_group(sample=n) for n in range(600)]
DRAWN = draw_task(Task("9.9 Test", "T", numbers), GROUPS, count=900, dataset="d", rng=np.random.default_rng(4))


def test_questions_have_four_different_options_and_the_right_answer() -> None:
    assert len(DRAWN) == 900
    for question in DRAWN:
        assert tuple(question["options"]) == tuple(LETTERS)
        assert len(set(question["options"].values())) == 4
        sample = int(question["sequence_frame"].rpartition("_")[2])
        value = sample % 10 if sample % 2 else sample % 3
        assert question["options"][question["correct_answer"]] == str(value)
        assert question["question"].split()[3] in question["uav_paths"]


def test_every_answer_is_right_a_fourth_of_the_times_that_it_is_shown() -> None:
    offered = Counter(text for q in DRAWN for text in q["options"].values())
    right = Counter(q["options"][q["correct_answer"]] for q in DRAWN)
    often = [text for text in offered if offered[text] >= 100]
    assert len(often) >= 5
    for text in often:
        assert right[text] / offered[text] == pytest.approx(0.25, abs=4 * np.sqrt(0.25 * 0.75 / offered[text]))


def test_the_right_answer_is_at_every_letter_as_often() -> None:
    counts = Counter(q["correct_answer"] for q in DRAWN)
    assert chisquare([counts[letter] for letter in LETTERS]).pvalue > 0.01


def test_uavs_are_named_anew_and_each_thing_is_asked_once() -> None:
    names = Counter(name for q in DRAWN for name, file in q["uav_paths"].items() if file.endswith("_0.png"))
    assert len(names) == 5
    assert max(names.values()) < 2 * min(names.values())
    counts = Counter((q["sequence_frame"], q["uav_paths"][q["question"].split()[3]]) for q in DRAWN)
    assert max(counts.values()) == 1


def test_the_same_seed_draws_the_same_and_another_one_others() -> None:
    task = Task("9.9 Test", "T", numbers)
    again, other = (draw_task(task, GROUPS, count=50, dataset="d", rng=np.random.default_rng(seed)) for seed in (4, 5))
    assert again == draw_task(task, GROUPS, count=50, dataset="d", rng=np.random.default_rng(4))
    assert again != other


def test_nothing_is_asked_where_three_answers_differ() -> None:
    def three(number, group):
        yield Item((), "How many does {0} show?", (number % 3,), str(number % 3), number, (0,))

    assert draw_task(Task("9.9 Test", "T", three), GROUPS, count=5, dataset="d", rng=np.random.default_rng(0)) == []


def test_who_questions_choose_among_four_other_uavs() -> None:
    task = next(task for task in TASKS if task.prefix == "who2col")
    drawn = draw_task(task, GROUPS[:40], count=40, dataset="d", rng=np.random.default_rng(1))
    assert len(drawn) == 40
    for question in drawn:
        best = question["options"][question["correct_answer"]]
        assert question["uav_paths"][best].endswith("_3.png")  # the one that helps most, whatever it is called
        assert question["question"].split()[2] not in question["options"].values()
    assert len({q["options"][q["correct_answer"]] for q in drawn}) == 5


def test_alike() -> None:
    assert too_alike(["one", "two", "three", "one"])
    assert not too_alike(["2 more", "5 more", "as many", "7 fewer"])
