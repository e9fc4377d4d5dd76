"""Classes and UAV3D names of single actors."""

import numpy as np
import pytest
from headless_simulator.models.catalogue import VEHICLES

from uavsim.geometry.se3 import SE3
from uavsim.records.classes import CLASSES, UAV3D_CARS, class_of, class_of_blueprint, uav3d_category
from uavsim.records.recording import ActorInfo


def actor(blueprint: str, *, base_type: str = "", tag: int = 14, kind: str = "vehicle", half=(2.0, 1.0, 0.7),
          offset=(0.0, 0.0, 0.7), **attributes: str) -> ActorInfo:  # fmt: skip
    box = SE3(np.array([1.0, 0, 0, 0]), np.array(offset))
    return ActorInfo(1, 1, kind, blueprint, base_type, half, box, tag, attributes)


@pytest.mark.parametrize(
    ("info", "label"),
    [
        (actor("vehicle.audi.a2", base_type="car"), "car"),
        (actor("vehicle.mercedes.sprinter", base_type="van"), "van"),
        (actor("vehicle.carlamotors.firetruck", base_type="truck", tag=15), "truck"),
        (actor("vehicle.mitsubishi.fusorosa", base_type=""), "bus"),
        (actor("vehicle.new.thing", base_type="", tag=15), "truck"),
        (actor("vehicle.new.thing", base_type="Bus", tag=0), "bus"),
        (actor("vehicle.new.thing", base_type="", tag=0), "car"),
        (actor("vehicle.kawasaki.ninja", base_type="", tag=14), "motorcycle"),
        (actor("walker.pedestrian.0003", kind="walker", tag=12), "pedestrian"),
        (actor("static.prop.bin", tag=20), None),
        (actor("static.prop.bin", kind="prop", tag=20), "pushable"),
        (actor("static.prop.mesh", kind="prop", tag=21), "debris"),
    ],
)
def test_labels(info: ActorInfo, label: str | None) -> None:
    found = class_of(info)
    assert (found and found.label) == label


def test_catalogue_vehicles_have_the_label_of_their_base_type() -> None:
    for name, spec in VEHICLES.items():
        info = actor(name, base_type=spec.base_type, tag=spec.tag)
        found = class_of(info)
        assert found
        label = found.label
        assert label in {"car", "van", "truck", "bus", "motorcycle", "bicycle"}
        if name not in {"vehicle.carlamotors.carlacola", "vehicle.ford.ambulance"}:
            assert label == spec.base_type or (label, spec.base_type) in {("van", "car"), ("bus", "truck")}, name


def test_uav3d_names() -> None:
    assert len(set(UAV3D_CARS)) == 17
    assert uav3d_category("vehicle.mercedes.coupe") == "vehicle.mercedes-benz.coupe"
    assert uav3d_category("vehicle.tesla.model3") == "vehicle.tesla.model3"
    today = {uav3d_category(name) for name in VEHICLES}
    assert set(UAV3D_CARS) <= today  # every class of UAV3D can be had from today's blueprints
    assert {name for c in CLASSES for name in c.uav3d_names} <= set(VEHICLES)
    found = class_of_blueprint("vehicle.mustang.mustang")
    assert found
    assert found.label == "car"
