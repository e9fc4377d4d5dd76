"""Every task on made-up facts; answers that geometry gives, by hand."""

from dataclasses import replace

import numpy as np
import pytest

from questions.groups import make_group, make_view
from uavsim_benchmarks.evaluate.aircopbench.scores import CATEGORIES, task_of
from uavsim_benchmarks.questions.checks import faults_of
from uavsim_benchmarks.questions.draw import draw_task
from uavsim_benchmarks.questions.facts import ObjectSeen
from uavsim_benchmarks.questions.items import TASKS

GROUPS = [make_group(sample=n) for n in range(120)]
BY_PREFIX = {task.prefix: task for task in TASKS}


def test_the_tasks_are_aircopbenchs_in_its_order() -> None:
    assert [task_of(task.name) for task in TASKS] == [name for names in CATEGORIES.values() for name in names]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.prefix)
def test_every_task_makes_questions_of_good_form(task) -> None:
    drawn = draw_task(task, GROUPS, count=20, dataset="made_up", rng=np.random.default_rng(2))
    assert len(drawn) == 20
    for question in drawn:
        assert faults_of(question) == []
        assert question["question_id"].startswith(f"made_up_{task.prefix}_")
        assert question["source"] == "Rule-Based"
        assert "<" not in str(question["options"])


def answers(prefix: str, group) -> dict:
    return {item.subjects: item.answer for item in BY_PREFIX[prefix].items(0, group)}


def test_posture_by_hand() -> None:
    """Drone 0 in the middle looks along x; y is to the left in the map frame."""
    group = make_group()
    places = ([0, 0, 40], [20, 0, 40], [0, 20, 40], [-14.2, -14.2, 40], [0, -31, 40])
    views = tuple(
        replace(view, place_m=np.array(place, dtype=float)) for view, place in zip(group.views, places, strict=True)
    )
    found = answers("OP", replace(group, views=views))
    assert [found[drone, 0] for drone in (1, 2, 3, 4)] == ["20 m ahead", "20 m left", "20 m behind right", "30 m right"]


def test_comparison_counting_and_description_by_hand() -> None:
    views = tuple(
        replace(make_view(0, drone, 2), counts={"car": cars, "bus": 1, "pedestrian": 4}, surface="road")
        for drone, cars in enumerate((2, 7))
    )
    group = replace(make_group(), views=views)
    assert answers("SC", group) == {(0, 1): "5 fewer", (1, 0): "5 more"}
    assert [item.answer for item in BY_PREFIX["OC"].items(0, group)] == ["3", "4", "8", "4"]
    assert answers("SD", group)[(0,)] == "mostly road, light traffic (3 to 6 vehicles), people on foot"


def test_what_people_count_differently_is_not_asked_for() -> None:
    walker, bus = (replace(make_view(0, 0, 2), doubtful=frozenset({kind})) for kind in ("pedestrian", "bus"))
    clear = make_view(0, 1, 2)
    for view, left in ((walker, {"vehicles"}), (bus, {"pedestrians"})):
        group = replace(make_group(), views=(view, clear))
        assert {item.kind[1] for item in BY_PREFIX["OC"].items(0, group) if item.subjects == (0,)} == left
        assert (0,) not in answers("SD", group)
        assert bool(answers("SC", group)) == (view is walker)


@pytest.mark.parametrize(("sizes", "asked"), [([90], True), ([90, 60], True), ([90, 80], False), ([300, 90], False)])
def test_the_largest_is_asked_for_where_all_see_which_it_is(sizes: list[int], asked: bool) -> None:
    """A larger one that the image's border cuts off is no object to ask for, but people see it."""
    car = ObjectSeen("a", "car", 20, 80, 90)
    view = replace(make_view(0, 0, 2), objects=(car,), sizes_px={"car": sizes})
    assert answers("OG", replace(make_group(), views=(view,))) == ({(0,): "lower left"} if asked else {})
    on_border = replace(view, objects=(replace(car, x_percent=34),))
    assert answers("OG", replace(make_group(), views=(on_border,))) == {}


@pytest.mark.parametrize(("perceived", "asked"), [(0, True), (11, False), (20, True), (37, False), (100, True)])
def test_shares_near_a_border_are_not_asked_for(perceived: int, asked: bool) -> None:
    view = replace(make_view(0, 0, 2), in_view=100, perceived=perceived, concerned=100, gained=perceived)
    group = replace(make_group(), views=(view,))
    assert bool(answers("UA", group)) is asked


def test_causes_that_are_as_frequent_are_not_asked_for() -> None:
    view = replace(make_view(0, 0, 2), hindrances=(("occluded", 3), ("too_small", 3)))
    assert answers("CA", replace(make_group(), views=(view,))) == {}
    view = replace(view, hindrances=(("occluded", 3), ("too_small", 1), ("noise", 1)))
    assert answers("CA", replace(make_group(), views=(view,))) == {}
    view = replace(view, hindrances=(("occluded", 3),))
    assert answers("CA", replace(make_group(), views=(view,))) == {(0,): "only occlusion"}


def test_with_fewer_than_five_drones_nobody_is_chosen_among_four() -> None:
    group = make_group(drones=4)
    assert list(BY_PREFIX["who2col"].items(0, group)) == []
    assert all(not item.choices or len(item.choices) >= 4 for item in BY_PREFIX["OM"].items(0, group))
