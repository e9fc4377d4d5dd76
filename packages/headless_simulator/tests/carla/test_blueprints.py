import pytest
from headless_simulator.carla import blueprints
from headless_simulator.errors import CallRefused


def test_blueprints_are_numbered_and_have_defaults():
    assert [d[0] for d in blueprints.DEFINITIONS] == list(range(1, len(blueprints.DEFINITIONS) + 1))
    assert blueprints.complete("sensor.camera.rgb", {"fov": "60"})["fov"] == "60"
    assert blueprints.complete("sensor.camera.rgb", {})["image_size_x"] == "800"


ROWS = {definition[1]: {row[0]: row for row in definition[3]} for definition in blueprints.DEFINITIONS}


def test_first_attributes_are_role_and_ros_name():
    for name, rows in ROWS.items():
        assert list(rows)[:2] == ["role_name", "ros_name"]
        assert rows["ros_name"][2] == name


def test_event_sensors_have_no_sensor_tick():
    without = {name for name in ROWS if name.startswith("sensor.") and "sensor_tick" not in ROWS[name]}
    assert without == {"sensor.other.collision", "sensor.other.lane_invasion", "sensor.other.rss"}


def test_the_friction_trigger_has_carlas_attributes():
    rows = ROWS["static.trigger.friction"]
    assert {name: row[2] for name, row in rows.items()} == {
        "role_name": "default", "ros_name": "static.trigger.friction", "friction": "3.5f",
        "extent_x": "1.0f", "extent_y": "1.0f", "extent_z": "1.0f",
    }  # fmt: skip


def test_recommended_values_start_with_default():
    for rows in ROWS.values():
        for _name, _kind, value, recommended, modifiable, restricted in rows.values():
            assert recommended == [] if not modifiable else recommended[0] == value
            assert modifiable or not restricted


def test_unknown_blueprint_is_refused():
    with pytest.raises(CallRefused, match="not found"):
        blueprints.require("a.b.c")
