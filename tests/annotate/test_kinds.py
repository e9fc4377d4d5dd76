"""Classes, names, sizes and attributes of single actors."""

import numpy as np
import pytest
from headless_simulator.models.catalogue import VEHICLES

from uavsim.annotate.attributes import attributes_of_track
from uavsim.annotate.options import AnnotateOptions
from uavsim.annotate.sizes import size_of
from uavsim.dataset.vocabulary import ATTRIBUTES
from uavsim.geometry.se3 import SE3
from uavsim.records.actors import believable
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


def test_every_vehicle_of_the_catalogue_has_the_label_of_its_base_type() -> None:
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


@pytest.mark.parametrize(
    ("half", "offset", "good"),
    [
        ((2.0, 1.0, 0.7), (0.0, 0.0, 0.7), True),
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), False),
        ((0.8, 0.0, 0.8), (0.0, 0.0, 0.8), False),
        ((float("inf"), 1.0, 1.0), (0.0, 0.0, 0.0), False),
        ((1.0, 0.4, 0.8), (0.0, float("nan"), 0.0), False),
        ((1.0, 0.4, 0.8), (0.0, 3.0, 0.8), False),
        ((400.0, 1.0, 1.0), (0.0, 0.0, 1.0), False),
        ((0.19, 0.19, 0.93), (0.0, 0.0, 0.0), True),
    ],
)
def test_believable_boxes(half: tuple, offset: tuple, good: bool) -> None:
    assert believable(half, np.array(offset)) is good


def test_boxes_from_the_table_stand_on_the_ground() -> None:
    half, actor_SE3_box, source = size_of(
        actor("vehicle.yamaha.yzf", half=(0.0, 0.0, 0.0), offset=(0.0, 0.0, 0.0), tag=18)
    )
    assert source == "table"
    assert half[0] > 2 * half[1]
    assert actor_SE3_box.translation_m.tolist() == [0.0, 0.0, half[2]]
    known = actor("vehicle.audi.a2")
    assert size_of(known) == (known.half_extent_m, known.actor_SE3_box, "simulator")
    walker = actor("walker.pedestrian.0001", kind="walker", half=(0.0, 0.0, 0.0))
    assert size_of(walker)[1].translation_m.tolist() == [0.0, 0.0, 0.0]


def names(info: ActorInfo, label: str, speeds: list[float], places: list[float]) -> list[str]:
    track = np.array([[x, 0.0, 0.0] for x in places])
    rows = attributes_of_track(info, label, speed_mps=np.array(speeds), origin_map_m=track, options=AnnotateOptions())
    return [ATTRIBUTES[row][0] for row in rows]


def test_attributes() -> None:
    car = actor("vehicle.audi.a2")
    assert names(car, "car", [5.0, 0.19, 0.21], [0, 2.5, 2.6]) == [
        "vehicle.moving",
        "vehicle.stopped",
        "vehicle.moving",
    ]
    assert names(car, "car", [0.0, 0.0], [0, 0]) == ["vehicle.stopped"] * 2  # it may wait at a light all the time
    parked = actor("vehicle.audi.a2", role_name="parked")
    assert names(parked, "car", [0.0, 0.0], [0, 0.05]) == ["vehicle.parked"] * 2
    assert names(parked, "car", [0.0, 0.0], [0, 3.0]) == ["vehicle.stopped"] * 2  # somebody moved it
    assert names(actor("vehicle.bh.crossbike"), "bicycle", [0.0], [0]) == ["cycle.with_rider"]
    assert names(actor("vehicle.bh.crossbike", kind="environment"), "bicycle", [0.0], [0]) == ["cycle.without_rider"]
    walker = actor("walker.pedestrian.0001", kind="walker")
    assert names(walker, "pedestrian", [1.2, 0.0], [0, 1]) == ["pedestrian.moving", "pedestrian.standing"]
