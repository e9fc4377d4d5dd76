"""Skins: valid files, draws for a scene, and painted objects of a town; without flights."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import carla
import numpy as np
import pytest

from tests.records.test_motion import motion
from tests.replays.test_requests import ACTORS, record
from uavsim.config.library import Library
from uavsim.config.skin import Colours
from uavsim.errors import ConfigError, InputError, SceneVoid
from uavsim.ingredients.carla.skins import paint
from uavsim.ingredients.skin_plans import check_names
from uavsim.ingredients.skins import Paint, SkinPlan
from uavsim.on_top import ON_TOP
from uavsim.records.codec import pack_plan, unpack_plan
from uavsim.records.plan import WEATHER_PARAMETERS, ScenePlan
from uavsim.replays.twins import Twin, requested_twins, requests_of
from uavsim.run import resolve as of_resolve
from uavsim.simulate.carla.spawning import SpawnContext

resolve = partial(of_resolve.resolve, on_top=ON_TOP)

SKIN = """
twins: 2
weather: {draw: {cloudy_noon: 1, hard_rain: 1}}
sun_altitude_deg: [20, 60]
vehicle_colours: {hue_deg: [200, 240], saturation: [0.8, 1], value: [0.5, 1]}
textures: [{objects: ["Building*"], share: 0.5, colours: {draw: {"250,10,10": 3, "10,10,250": 1}}}]
"""
COLOURED = tuple(replace(i, attributes=i.attributes | {"color": "1,2,3"}) for i in ACTORS[:2]) + ACTORS[2:]


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    return record(tmp_path / "source", moves=motion(11, 3, drones=5), actors=COLOURED)


def twins_of(recorded: Path, text: str) -> tuple[Path, tuple[Twin, ...]]:
    path = recorded.parent / "mine.yaml"
    path.write_text(text)
    return path, requested_twins(recorded, weather=(), without=(), occluders=False, skins=[str(path)])


def plans_of(recorded: Path, text: str) -> list[ScenePlan]:
    _, twins = twins_of(recorded, text)
    requests = requests_of(recorded, recorded.parent / "twins", twins)
    return [resolve(request).plan_of("scene_0000") for request in requests.values()]


def test_each_twin_draws_differently_and_reproducibly(recorded: Path) -> None:
    path, twins = twins_of(recorded, SKIN)
    assert [(twin.name, twin.kind, twin.words) for twin in twins] == [
        ("skin-mine-0", "skin", ("mine", "0")),
        ("skin-mine-1", "skin", ("mine", "1")),
    ]
    first, second = plans_of(recorded, SKIN)
    assert [pack_plan(plan) for plan in plans_of(recorded, SKIN)] == [pack_plan(first), pack_plan(second)]
    assert pack_plan(unpack_plan(pack_plan(first))) == pack_plan(first)
    altitudes = [plan.weather.values[0, WEATHER_PARAMETERS.index("sun_altitude_angle")] for plan in (first, second)]
    assert 20 <= min(altitudes) < max(altitudes) <= 60
    assert {first.weather.name, second.weather.name} <= {"cloudy_noon", "hard_rain"}
    requests = requests_of(recorded, recorded.parent / "twins", twins)
    marks = {resolve(request).identity["fingerprint"] for request in requests.values()}
    assert len(marks) == 2  # neither is continued in the other's folder
    path.unlink()  # the request holds the skin


def test_vehicles_with_a_colour_get_another_and_the_others_none(recorded: Path) -> None:
    for plan in plans_of(recorded, SKIN):
        colours = plan.ingredients["skins"].vehicle_colours
        assert set(colours) == {"1", "2"}
        for text in colours.values():
            red, green, blue = map(int, text.split(","))
            assert red <= green <= blue >= 127  # hues from 200 to 240 degrees
        actor_colours = {info.instance_id: info.attributes.get("color") for info in plan.ingredients["replay"].actors}
        assert actor_colours == {1: colours["1"], 2: colours["2"], 3: None}


def test_other_traffic_is_no_replay_but_the_same_flight(recorded: Path) -> None:
    _, (twin,) = twins_of(recorded, "traffic: other\n")
    assert twin.kind == "traffic"
    (plan,) = plans_of(recorded, "traffic: other\n")
    (same,) = plans_of(recorded, "sun_azimuth_deg: [10, 10]\n")
    assert "replay" not in plan.ingredients
    assert plan.ingredients["skins"].other_traffic
    assert plan.seed != same.seed
    np.testing.assert_array_equal(plan.swarm.map_SE3_flu.translation_m, same.swarm.map_SE3_flu.translation_m)
    assert (plan.dataset, plan.scene_name, plan.start_timestamp_us) == (
        same.dataset,
        same.scene_name,
        same.start_timestamp_us,
    )


def test_colours_are_drawn_with_their_weights() -> None:
    rng = np.random.default_rng(5)
    drawn = Colours(draw={"9,9,9": 3.0, "1,1,1": 1.0}).drawn(rng, 4000)
    assert drawn.count("9,9,9") == pytest.approx(3000, abs=120)
    assert Colours(hue_deg=(120.0, 120.0), saturation=(1.0, 1.0), value=(1.0, 1.0)).drawn(rng, 2) == ("0,255,0",) * 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("twins: 2\n", "the skin changes nothing: set weather, sun"),
        ("sun_altitude_deg: [60, 20]\n", "sun_altitude_deg: from must be smaller than to"),
        ("vehicle_colours: {value: [1, 0]}\n", ":1: vehicle_colours: value: from must be smaller than to"),
        ("traffic: other\nvehicle_colours: {}\n", "vehicle_colours needs recorded traffic"),
        ('vehicle_colours: {draw: {"1,2,256": 1}}\n', "'1,2,256' is not a colour: \"r,g,b\", each 0 to 255"),
        ('vehicle_colours: {draw: {"1,2,3": 1}, hue_deg: [0, 1]}\n', "give either draw, or hue_deg"),
        ("weather: {draw: {hard_rian: 1}}\n", ":1: weather: unknown weather 'hard_rian'; did you mean 'hard_rain'?"),
    ],
)
def test_nonsense_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "skin.yaml").write_text(text)
    with pytest.raises(ConfigError) as refused:
        check_names(Library.of().of_ingredient("skin", str(tmp_path / "skin.yaml")))
    assert message in str(refused.value)


def test_an_unknown_skin_is_named(recorded: Path) -> None:
    with pytest.raises(InputError, match="unknown skin 'stret'; did you mean 'street'"):
        requested_twins(recorded, weather=(), without=(), occluders=False, skins=["stret"])


class World:
    """A town of two houses and a tree that records painted objects."""

    def __init__(self, names: list[str]) -> None:
        self.names, self.painted = names, dict[str, tuple[int, int, int]]()

    def no_manager(self) -> carla.TrafficManager:
        raise AssertionError("nothing drives here")

    def get_names_of_all_objects(self) -> list[str]:
        return self.names

    def apply_color_texture_to_objects(self, names: list[str], parameter: Any, texture: carla.TextureColor) -> None:
        assert parameter == carla.MaterialParameter.Diffuse
        colour = texture.get(texture.width - 1, 0)
        self.painted |= dict.fromkeys(names, (colour.r, colour.g, colour.b))


def painted(part: Paint, names: list[str]) -> dict[str, tuple[int, int, int]]:
    world: Any = World(names)
    context = SpawnContext(
        client=world, world=world, plan=world, map_name="T", pass_a_tick=list, traffic_manager=world.no_manager
    )
    assert paint(context, SkinPlan("own", 0, paints=(part,)))
    return dict(world.painted)


def test_a_share_of_the_objects_of_a_name_is_painted_whatever_their_order() -> None:
    names = [*(f"Building_{k:03d}" for k in range(400)), "Tree_1"]
    part = Paint(("Building*",), 0.25, ("250,10,10", "10,10,250"), seed=4)
    found = painted(part, names)
    assert len(found) == pytest.approx(100, abs=30)
    assert set(found.values()) == {(250, 10, 10), (10, 10, 250)}
    assert found == painted(part, names[::-1])
    assert "Tree_1" not in found


def test_an_unknown_object_name_voids_the_scene() -> None:
    with pytest.raises(SceneVoid, match=r"skin own: T has no object called House\*; it has Building, Tree"):
        painted(Paint(("House*",), 1.0, ("1,2,3",), seed=4), ["Building_1", "Tree_1"])
