"""Start poses of scenarios without a fitting road in the look-alike."""

import math
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import carla
import pytest
from conformance.scenario_moves import Need, fits, move_scenarios, xml_of
from headless_simulator.towns.layouts import LAYOUTS

SCENARIO = '<scenario name="{name}" type="{kind}" town="{town}">{actors}</scenario>'
FAR_OFF = '<ego_vehicle x="-3000" y="40" z="1" yaw="180" model="m"/>'


@pytest.fixture(scope="module")
def town04() -> carla.Map:
    return carla.Map("Town04", LAYOUTS["Town04"].plan().opendrive())


def moved(
    tmp_path: Path, town: carla.Map, kind: str, *, name: str = "Odd_1", actors: str = FAR_OFF
) -> ElementTree.Element:
    examples = tmp_path / "srunner" / "examples"
    examples.mkdir(parents=True)
    text = SCENARIO.format(name=name, kind=kind, town=town.name, actors=actors)
    examples.joinpath("Odd.xml").write_text(f"<scenarios>{text}</scenarios>")
    far_m = move_scenarios(tmp_path, lambda _: town, {f"Odd/{name}": "begins far off"}, tmp_path)[f"Odd/{name}"]
    scenario = ElementTree.parse(xml_of(f"Odd/{name}", tmp_path)).getroot().find("scenario")
    assert far_m is not None
    assert far_m > 2000
    assert scenario is not None
    assert scenario.attrib["name"] == f"{name}_moved"
    return scenario


def place_of(actor: ElementTree.Element | None) -> carla.Location:
    assert actor is not None
    return carla.Location(*(float(actor.attrib[axis]) for axis in "xyz"))


def test_moved_scenario_begins_on_a_lane_without_junction(tmp_path: Path, town04: carla.Map):
    ego = moved(tmp_path, town04, "ControlLoss").find("ego_vehicle")

    at = town04.get_waypoint(place_of(ego))
    lane_m = place_of(ego).distance(at.transform.location)
    turned_deg = (float(ego.attrib["yaw"]) - at.transform.rotation.yaw + 180) % 360 - 180
    along = [at, *(at.next(metres)[0] for metres in range(1, 110))]

    assert 0.4 < lane_m < 0.6  # over the middle of the lane
    assert abs(turned_deg) < 1
    assert not any(waypoint.is_junction for waypoint in along)


def test_left_turn_scenario_begins_before_a_left_turn(tmp_path: Path, town04: carla.Map):
    ego = moved(tmp_path, town04, "VehicleTurningLeft").find("ego_vehicle")

    start = town04.get_waypoint(place_of(ego))
    last = next(at for metres in range(1, 82) for at in start.next(metres) if at.next(1.0)[0].is_junction)
    exits = [way for metres in (15.0, 20.0, 25.0, 30.0) for way in last.next(metres)]
    lefts = [(way.transform.rotation.yaw - last.transform.rotation.yaw) % 360 for way in exits]

    assert not start.is_junction
    assert any(225 < left < 315 for left in lefts)  # Unreal's yaw grows to the right


def test_other_actor_moves_with_the_ego_vehicle(tmp_path: Path, town04: carla.Map):
    other = '<other_actor x="-2960" y="44" z="-100" yaw="180" model="m"/>'  # of an ego vehicle that drives west
    scenario = moved(tmp_path, town04, "CutIn", name="From_left_1", actors=FAR_OFF + other)

    ego, car = place_of(scenario.find("ego_vehicle")), place_of(scenario.find("other_actor"))
    lane, beside = town04.get_waypoint(ego), town04.get_waypoint(carla.Location(car.x, car.y, ego.z))

    assert 39 < math.hypot(ego.x - car.x, ego.y - car.y) < 42
    assert lane.lane_id - beside.lane_id == math.copysign(1, lane.lane_id)  # lanes count from the middle
    assert car.z == pytest.approx(beside.transform.location.z - 100, abs=0.01)


def test_lane_before_a_junction_is_not_free(town04: carla.Map):
    junctions = (waypoint for waypoint in town04.generate_waypoints(5.0) if waypoint.is_junction)
    before = next(way for at in junctions for way in at.previous(6.0) if not way.is_junction)

    assert fits(before, Need())
    assert not fits(before, Need(free_m=50))


def test_scenario_does_not_begin_next_to_a_junction(tmp_path: Path):
    town = carla.Map("Town03", LAYOUTS["Town03"].plan().opendrive())
    near = '<ego_vehicle x="177.3" y="204.2" z="1" yaw="0" model="m"/>'  # the first metre of a road behind a junction
    examples = tmp_path / "srunner" / "examples"
    examples.mkdir(parents=True)
    text = SCENARIO.format(name="Odd_1", kind="FollowLeadingVehicle", town="Town03", actors=near)
    examples.joinpath("Odd.xml").write_text(f"<scenarios>{text}</scenarios>")

    move_scenarios(tmp_path, lambda _: town, {"Odd/Odd_1": "begins in a junction"}, tmp_path)

    ego = ElementTree.parse(xml_of("Odd/Odd_1", tmp_path)).getroot().find("scenario/ego_vehicle")
    assert not town.get_waypoint(place_of(ego)).is_junction


def test_town_without_fitting_lane_writes_nothing(tmp_path: Path, town04: carla.Map):
    examples = tmp_path / "srunner" / "examples"
    examples.mkdir(parents=True)
    kinds = {"Known": "ControlLoss", "Unknown": "Nonsense"}
    texts = [SCENARIO.format(name=name, kind=kind, town="Town04", actors=FAR_OFF) for name, kind in kinds.items()]
    examples.joinpath("Odd.xml").write_text(f"<scenarios>{''.join(texts)}</scenarios>")
    short = carla.Map("Short", SHORT_ROAD)

    assert move_scenarios(tmp_path, lambda _: short, {"Odd/Known": "far off", "Odd/Unknown": "far off"}, tmp_path) == {
        "Odd/Known": None
    }
    assert not list(tmp_path.glob("*.xml"))


SHORT_ROAD = """<OpenDRIVE><header revMajor="1" revMinor="4" name="Short" north="9" south="-9" east="60" west="0"/>
<road name="" length="60" id="1" junction="-1"><planView><geometry s="0" x="0" y="0" hdg="0" length="60"><line/></geometry>
</planView><elevationProfile/><lateralProfile/><lanes><laneSection s="0"><center><lane id="0" type="none" level="false"/>
</center><right><lane id="-1" type="driving" level="false"><width sOffset="0" a="3.5" b="0" c="0" d="0"/></lane></right>
</laneSection></lanes></road></OpenDRIVE>"""
