import dataclasses
from pathlib import Path

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from tests.records.test_motion import motion
from uavsim.errors import DatasetError
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.replay import ReplayPlan
from uavsim.ingredients.traffic import TrafficPlan
from uavsim.records import codec, recording
from uavsim.records.plan import (
    DegradationPlan,
    ImageFormat,
    LabelPlan,
    PlanNotes,
    ScenePlan,
    SwarmTrajectory,
    TownSite,
    WeatherTrack,
)
from uavsim.records.sensors import Agent, CameraParams, LidarParams, Sensor, SensorSpec


def make_plan(**changes) -> ScenePlan:
    steps, drones = 12, 2
    plan = ScenePlan(
        dataset="odd-one",
        scene_name="scene_07",
        scene_index=7,
        description="über-lang, 日本",
        town=TownSite(
            "Town10HD", "Town10HD_Opt", (-112.5, -67.25, 108.0, 136.0), 0.125, (1.5, -2.5, 3.5), (-200, -250)
        ),
        route_name="town10_row1",
        formation_name="cross",
        rig_name="uav3d",
        topology="bridge",
        seed=2**63 - 1,
        start_timestamp_us=1_600_000_000_123_457,
        step_us=50_000,
        warmup_ticks=40,
        samples=2,
        keyframe_every_steps=10,
        sweeps_per_keyframe=1,
        rig=(SensorSpec("FRONT", (0.1, 0.0, -0.2), (0.0, -45.0, 0.0), CameraParams(801, 449, 89.5), ("rgb", "depth")),),
        swarm=SwarmTrajectory(
            (0, 3),
            SE3(np.ones((steps, drones, 4)) / 2, np.linspace(-1, 1, steps * drones * 3).reshape(steps, drones, 3)),
        ),
        ingredients={"traffic": TrafficPlan(60, ("vehicle.audi.a2",), speed_difference_percent=-12.5)},
        weather=WeatherTrack("dusk", (0, 777_777), np.arange(28.0).reshape(2, 14)),
        images=ImageFormat("jpeg", 91),
        splits=("uav_train", "uav_mini"),
        version="v1.0-mini",
        degradations=DegradationPlan(seed=3, position_bias_m=(0.1, 0.2, -0.3)),
        labels=LabelPlan(classes=("car", "bus"), moving_mps=0.5),
        notes=PlanNotes(dataset_seed=9, route_row="row1", route_start_share=0.25),
    )
    return dataclasses.replace(plan, **changes)


def assert_same(a, b) -> None:
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    elif dataclasses.is_dataclass(a):
        for f in dataclasses.fields(a):
            assert_same(getattr(a, f.name), getattr(b, f.name))
    elif isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert_same(x, y)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            assert_same(a[key], b[key])
    else:
        assert a == b or (a != a and b != b)  # NaN


def through(value):
    return codec.unpack_value(msgpack.unpackb(msgpack.packb(codec.pack_value(value))))


def test_a_plan_there_and_back():
    plan = make_plan()
    data = codec.pack_plan(plan)
    assert_same(codec.unpack_plan(data), plan)
    assert codec.pack_plan(codec.unpack_plan(data)) == data
    assert codec.unpack_plan(codec.pack_plan(make_plan(degradations=None))).degradations is None


plain = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text() | st.binary()
arrays = npst.arrays(
    st.sampled_from([np.float64, np.float32, np.int64, np.uint16, np.uint8, np.bool_]), npst.array_shapes(min_side=0)
)
values = st.recursive(
    plain | arrays,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text().filter(lambda t: t != "~"), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(values)
def test_values_there_and_back(value):
    assert_same(through(value), value)


def test_a_frame_of_a_recording():
    spec = SensorSpec(
        "", (0.1, 0.0, -0.2), (0.0, -45.0, 0.0), LidarParams(64, 150.0, 9000, 20.0, 5.0, -90.0), ("lidar",)
    )
    pose = SE3(np.array([0.5, -0.5, 0.5, -0.5]), np.arange(3.0))
    sensor = Sensor(Agent(1, "vehicle", "vehicle.audi.tt"), spec)
    shot = recording.SensorReading(sensor, pose, (0.0, -45.0, 1.5), {"rgb": "rgb/a.png"}, degradation={"dropped": True})
    assert_same(through((shot,)), (shot,))


def test_arrays_of_any_order_and_numpy_scalars():
    big_endian = np.arange(6, dtype=">i4").reshape(2, 3)
    back = through(big_endian[:, ::2])
    np.testing.assert_array_equal(back, [[0, 2], [3, 5]])
    assert back.dtype.str == "<i4"
    assert back.flags.writeable
    assert through(np.float64(1.5)) == 1.5
    assert through(np.int32(7)) == 7


@pytest.mark.parametrize("bad", [Path("x"), {1: 2}, {"~": 1}, {1, 2}, np.array(["a"]), np.array([None]), object()])
def test_unsupported_value_is_refused(bad):
    with pytest.raises(TypeError):
        codec.pack_value(bad)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        b"not msgpack",
        msgpack.packb([1, 2]),
        msgpack.packb({"format": "uavsim-plan-0"}),
        msgpack.packb({"format": "uavsim-plan-5", "plan": 3}),
        codec.pack_plan(make_plan())[:-5],
    ],
)
def test_invalid_plan_is_refused(data):
    with pytest.raises(DatasetError, match="not a scene plan"):
        codec.unpack_plan(data)


def test_other_versions_of_a_record():
    good = codec.pack_value(ImageFormat("png"))
    assert codec.unpack_value(good) == ImageFormat("png")
    with pytest.raises(DatasetError, match="ImageFormat lacks the field 'png_level'"):
        codec.unpack_value({key: value for key, value in good.items() if key != "png_level"})
    with pytest.raises(DatasetError, match="'colour'"):
        codec.unpack_value(good | {"colour": 1})
    with pytest.raises(DatasetError, match="'Nothing'"):
        codec.unpack_value({"~": "Nothing"})
    with pytest.raises(DatasetError, match="WeatherTrack lacks the field"):
        codec.unpack_value({"~": "WeatherTrack", "name": "x"})


@pytest.mark.parametrize(
    "array",
    [
        {"dtype": "O", "shape": [1], "data": b"12345678"},
        {"dtype": "<f8", "shape": [2], "data": b"12345678"},
        {"dtype": "<f8", "shape": [1]},
        {"dtype": "nonsense", "shape": [1], "data": b""},
        {"dtype": "(1 2)f8,f8", "shape": [1], "data": b"12345678"},  # numpy parses a tuple expression here
        {"dtype": 8.5, "shape": [1], "data": b"12345678"},
    ],
)
def test_invalid_array_is_refused(array):
    with pytest.raises(DatasetError, match="not an array"):
        codec.unpack_value({"~": "ndarray"} | array)


def test_records_of_ingredients_are_named_by_their_ingredient() -> None:
    plan = make_plan(ingredients={"replay": ReplayPlan(motion(2, 1).packed(), (), ())})
    packed = codec.pack_value(plan)
    assert packed["ingredients"]["replay"]["~"] == "replay.ReplayPlan"
    assert codec.unpack_value(packed).of(ReplayPlan).motion.columns == motion(2, 1).packed().columns
    packed["ingredients"]["replay"]["~"] = "snowmen.Snowman"
    with pytest.raises(DatasetError, match=r"unknown record 'snowmen\.Snowman'"):
        codec.unpack_value(packed)


@pytest.mark.parametrize("one", [b"\x80", b"\x90", b"\x81\xa0\x01", b"\x91\x01"])
def test_maps_that_hold_next_to_nothing_are_counted(one: bytes) -> None:
    """Python needs at least 64 bytes for each: a file of 20 MB would take 1.5 GB."""
    count = 200_000
    with pytest.raises(DatasetError, match="lists and maps"):
        codec.unpack_plan(b"\xdd" + count.to_bytes(4, "big") + one * count)
