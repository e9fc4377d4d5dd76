from types import SimpleNamespace
from typing import Any

import pytest
from headless_simulator.behaviours import BEHAVIOURS, IDEAL, UNREAL, BehaviourError, behaviours_of
from headless_simulator.carla.methods.listing import ListingContext, get_environment_objects
from headless_simulator.scene import StaticObject


def test_default_and_unreal_values():
    assert dict(IDEAL) == {name: behaviour.values[0] for name, behaviour in BEHAVIOURS.items()}
    assert dict(behaviours_of(["unreal"])) == dict(UNREAL) == {n: b.unreal for n, b in BEHAVIOURS.items()}


def test_later_behaviour_overrides_unreal():
    assert behaviours_of(["unreal", "reset=quick"])["reset"] == "quick"
    assert behaviours_of(["unreal", "reset=quick"])["exposure"] == "adapts"


@pytest.mark.parametrize("word", ["speed=slow", "reset=never", "reset", ""])
def test_unknown_behaviour_or_value_is_refused(word):
    with pytest.raises(BehaviourError, match=r"choose from unreal, first-image|quick or slow"):
        behaviours_of([word])


def test_unlisted_parked_vehicles_are_omitted():
    """A car and a house: all tags, vehicles alone, and a build that lists none."""
    objects = [
        StaticObject(name=name, tag=tag, object_id=tag, pose=(0.0,) * 6, box_centre_m=(0.0,) * 3, box_half_m=(1.0,) * 3)
        for name, tag in (("car", 14), ("house", 3))
    ]
    world: Any = SimpleNamespace(scenery=SimpleNamespace(listed=tuple(objects)))

    def listed(value: str, tag: int) -> list[str]:
        context = ListingContext(world, behaviours_of([f"parked={value}"]))
        return [row[3] for row in get_environment_objects(context, tag)]

    assert [listed("listed", 255), listed("listed", 14)] == [["car", "house"], ["car"]]
    assert [listed("unlisted", 255), listed("unlisted", 14)] == [["house"], []]
