from __future__ import annotations

from headless_simulator.carla import blueprints


def test_every_blueprint_has_a_number_and_defaults_that_are_its_own():
    assert [d[0] for d in blueprints.DEFINITIONS] == list(range(1, len(blueprints.DEFINITIONS) + 1))
    assert blueprints.complete("sensor.camera.rgb", {"fov": "60"})["fov"] == "60"
    assert blueprints.complete("sensor.camera.rgb", {})["image_size_x"] == "800"
