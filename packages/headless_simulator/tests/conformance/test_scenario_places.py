"""Which ego vehicles begin on a lane."""

from pathlib import Path

import carla
from conformance.scenario_places import maps_of, opendrive_texts, where_scenarios_begin
from headless_simulator.towns.layouts import LAYOUTS

EGO = '<scenario name="{}" type="Odd" town="{}"><ego_vehicle x="{}" y="{}" z="1" yaw="{}" model="m"/></scenario>'


def test_ego_start_is_classified_by_lane(tmp_path: Path):
    text = LAYOUTS["Town02"].plan().opendrive()
    town = carla.Map("Town02", text)
    waypoints = town.generate_waypoints(5.0)
    start = next(waypoint for waypoint in waypoints if not waypoint.is_junction).transform
    crossing = next(w.transform for w in waypoints if town.get_waypoint(w.transform.location).is_junction)
    east, south, yaw = start.location.x, start.location.y, start.rotation.yaw
    examples = tmp_path / "srunner" / "examples"
    examples.mkdir(parents=True)
    egos = [
        EGO.format("On_1", "Town02", east, south, yaw + 360),
        EGO.format("Across_1", "Town02_Opt", east, south, yaw + 90),
        EGO.format("Crossing_1", "Town02", crossing.location.x, crossing.location.y, crossing.rotation.yaw),
        EGO.format("Off_1", "Town02", -5000, south, yaw),
        EGO.format("Elsewhere_1", "Highway", east, south, yaw),
    ]
    examples.joinpath("Odd.xml").write_text(f"<scenarios>{''.join(egos)}</scenarios>")

    begins = where_scenarios_begin(tmp_path, maps_of(opendrive_texts(None)))

    assert begins.pop("Odd/On_1") == ""
    assert "90 degrees aside" in begins.pop("Odd/Across_1")
    assert begins.pop("Odd/Crossing_1") == "begins inside a junction of the look-alike"
    assert "m from the nearest lane" in begins.pop("Odd/Off_1")
    assert not begins


def test_maps_folder_overrides_built_in_town(tmp_path: Path):
    (tmp_path / "Town02.xodr").write_text("of the folder")

    text_of = opendrive_texts(tmp_path)

    assert text_of("Town02") == "of the folder"
    assert (text_of("Town01") or "").startswith("<?xml")
    assert text_of("Nowhere") is None
