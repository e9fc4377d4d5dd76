"""All tasks on synthetic facts, with geometric answers calculated by hand."""

from dataclasses import replace

import numpy as np
import pytest

from questions.groups import make_group, make_one, make_view
from uavsim_benchmarks.evaluate.aircopbench.scores import CATEGORIES, task_of
from uavsim_benchmarks.questions.checks import faults_of
from uavsim_benchmarks.questions.draw import draw_task
from uavsim_benchmarks.questions.items import TASKS

GROUPS = [make_group(sample=n) for n in range(120)]
BY_PREFIX = {task.prefix: task for task in TASKS}


def test_the_tasks_are_aircopbenchs_in_its_order() -> None:
    assert [task_of(task.name) for task in TASKS] == [name for names in CATEGORIES.values() for name in names]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.prefix)
def test_every_task_makes_questions_of_good_form(task) -> None:
    drawn = draw_task(task, GROUPS, count=20, dataset="made_up", rng=np.random.default_rng(2))
    assert len(drawn) >= 8
    for question in drawn:
        assert faults_of(question) == []
        assert question["question_id"].startswith(f"made_up_{task.prefix}_")
        assert question["source"] == "Rule-Based"
        assert not set("<{") & set(str(question["options"].values()) + question["question"])


def answers(prefix: str, *views) -> dict:
    """Return the answers of a task by subjects, for images of the given objects."""
    images = [
        replace(make_view(0, drone, 2), objects=tuple(view)) if isinstance(view, list) else view
        for drone, view in enumerate(views)
    ]
    return {
        item.subjects: item.answer for item in BY_PREFIX[prefix].items(0, replace(make_group(), views=tuple(images)))
    }


def test_posture_by_hand() -> None:
    """Drone 0 in the middle looks along x; y is to the left in the map frame."""
    positions = ([0, 0, 40], [20, 0, 40], [0, 20, 40], [-14.2, -14.2, 40], [0, -31, 40])
    views = [
        replace(make_view(0, n, 5), position_m=np.array(position, dtype=float), objects=tuple(cars(2)))
        for n, position in enumerate(positions)
    ]
    found = answers("OP", *views)
    assert [found[drone, 0] for drone in (1, 2, 3, 4)] == ["20 m ahead", "20 m left", "20 m behind right", "30 m right"]
    less = [replace(view, objects=(*cars(1), *cars(2, cut=0.2)[1:])) for view in views]
    assert answers("OP", *less) == {}  # the relative position of the images is unknown


def cars(count: int, **changed) -> list:
    return [make_one(f"car{n}", **changed) for n in range(count)]


def test_comparison_counting_and_description_by_hand() -> None:
    walkers = [make_one(f"walker{n}", "pedestrian") for n in range(4)]
    views = [cars(5) + walkers, cars(8)]
    assert answers("SC", *views) == {(0, 1): "3 fewer", (1, 0): "3 more"}
    group = replace(
        make_group(), views=tuple(replace(make_view(0, n, 2), objects=tuple(v)) for n, v in enumerate(views))
    )
    assert [item.answer for item in BY_PREFIX["OC"].items(0, group)] == ["5", "4", "8", "0"]
    assert answers("SD", views[0])[(0,)] == "mostly road, light traffic (3 to 6 vehicles)"
    assert answers("SD", cars(6)) == {}  # or is one of them two?


@pytest.mark.parametrize("px", [12, 99])
def test_what_people_count_differently_is_not_asked_for(px: int) -> None:
    clear = cars(4)
    for doubtful, left in (
        ([make_one("w", "pedestrian", px=px)], {"vehicles"}),
        ([make_one("b", "bus", px=px)], {"pedestrians"}),
    ):
        views = [replace(make_view(0, n, 2), objects=tuple(v)) for n, v in enumerate((clear + doubtful, clear))]
        items = BY_PREFIX["OC"].items(0, replace(make_group(), views=tuple(views)))
        assert {item.kind[0] for item in items if item.subjects == (0,)} == left
        assert ((0,) in answers("SD", *views)) is ("vehicles" in left)
    assert answers("OC", [*clear, make_one("speck", px=11)])
    assert answers("SC", cars(5), cars(7)) == {}  # one of them is easily overlooked
    assert answers("SC", [*clear, make_one("edge", cut=0.6)], clear) == {}


def test_what_does_not_stand_out_is_overlooked_by_some() -> None:
    """A grey car in rain on a grey road."""
    grey = make_one("grey", stands_out=False)
    for prefix in ("OC", "SD", "UA", "OG", "OR", "CA"):
        assert answers(prefix, [grey]) == ({(0,): "0"} if prefix == "OC" else {}), prefix  # no pedestrian
    for prefix in ("SC", "when2col", "what2col", "why2col"):
        assert (0, 1) not in answers(prefix, [grey], [replace(grey, stands_out=True)])


def test_in_the_dark_nobody_counts() -> None:
    dark = replace(make_view(0, 0, 2), objects=tuple(cars(3)), faults=frozenset({"dark"}), fault="dark")
    for prefix in ("OC", "SD", "OG", "UA", "OR"):
        assert answers(prefix, dark) == {}
    for prefix in ("SC", "why2col", "when2col"):
        assert answers(prefix, dark, cars(3)) == {}
    assert answers("CA", dark) == {(0,): "the dark"}


@pytest.mark.parametrize(("others", "largest"), [([], True), ([260], True), ([280], False)])
def test_the_largest_is_asked_for_where_all_see_which_it_is(others: list[int], largest: bool) -> None:
    """A larger truncated object is no valid item, but people see it."""
    rest = [make_one(f"o{n}", px=px, cut=0.5) for n, px in enumerate(others)]
    assert answers("OG", [make_one("a"), *rest]) == ({(0,): "lower left"} if largest else {})
    assert answers("OG", [make_one("a", x=35)]) == {}


def test_a_van_may_be_a_truck_to_some() -> None:
    for px, kinds in ((300, {"truck", "car"}), (900, {"car"})):
        view = replace(make_view(0, 0, 2), objects=(make_one("truck", "truck", px=900), make_one("van", px=px)))
        items = BY_PREFIX["OG"].items(0, replace(make_group(), views=(view,)))
        assert {item.kind[0] for item in items} == kinds


@pytest.mark.parametrize(("hidden", "text"), [(0.05, "3 of 3"), (0.25, None), (0.5, "2 of 3")])
def test_what_is_whole_is_counted_where_nothing_is_in_between(hidden: float, text: str | None) -> None:
    assert answers("UA", [*cars(2), make_one("half", hidden=hidden)]).get((0,)) == text


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({}, "nothing"),
        ({"hidden": 0.5}, "something hides a good part of it"),
        ({"hidden": 0.25}, None),
        ({"px": 30}, "it is small: less than 64 pixels"),
        ({"px": 100}, None),
        ({"cut": 0.1}, None),
        ({"alone": False}, None),
    ],
)
def test_what_hinders(changed: dict, text: str | None) -> None:
    assert answers("CA", [make_one("a", **changed)]).get((0,)) == text


@pytest.mark.parametrize(
    ("objects", "when", "what", "why"),
    [
        ([], "1 of 1", "1 car", "it is outside of {0}'s image"),
        ([make_one("car0", px=0, hidden=1.0)], "1 of 1", "1 car", "something hides it from {0}"),
        ([make_one("car0", px=100, hidden=0.6)], "none of 1", None, "something hides a part of it from {0}"),
        ([make_one("car0", px=90, hidden=0.6)], None, None, None),
        ([make_one("car0", px=200, cut=0.5)], "none of 1", None, "the border of {0}'s image cuts it off"),
        ([make_one("car0")], "none of 1", None, "nothing: {0} shows it whole"),
        ([make_one("car0", px=90)], None, None, None),
    ],
)
def test_who_needs_whom_for_what_and_why(objects: list, when: str | None, what: str | None, why: str | None) -> None:
    for prefix, text in (("when2col", when), ("what2col", what), ("why2col", why)):
        assert answers(prefix, objects, cars(1)).get((0, 1)) == text, prefix


def test_who_adds_most_is_asked_for_where_all_see_who() -> None:
    def views(most: int, next_best: int) -> list:
        counts = (0, next_best, most, 1, 0)
        return [[make_one(f"{drone}_{n}") for n in range(count)] for drone, count in enumerate(counts)]

    def chosen(*contents) -> dict:
        group = replace(
            make_group(), views=tuple(replace(make_view(0, n, 5), objects=tuple(v)) for n, v in enumerate(contents))
        )
        return {item.subjects[0]: item.choices[0] for item in BY_PREFIX["who2col"].items(0, group)}

    assert chosen(*views(6, 3))[0] == 2
    assert 0 not in chosen(*views(6, 5))


def test_with_fewer_than_five_drones_nobody_is_chosen_among_four() -> None:
    group = make_group(drones=4)
    assert list(BY_PREFIX["who2col"].items(0, group)) == []
    assert all(not item.choices or len(item.choices) >= 4 for item in BY_PREFIX["OM"].items(0, group))
