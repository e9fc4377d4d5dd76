"""ROS 2 bags, read by rosbags and MCAP's decoder of ROS 2 messages in a separate environment."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import uavsim
from tests.dataset_factory import make_dataset
from tests.other_python import printed_by
from tests.ros_bags import convert_to_ros_1, read_bag
from uavsim.access import Image
from uavsim.errors import UnknownNameError
from uavsim.exports.formats import ExportRequest
from uavsim.exports.formats.rosbag2 import export_rosbag2
from uavsim.exports.formats.rosbag2.topics import names_of
from uavsim.files.parquet import to_parquet
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.flight_sensors.carrier_motion import Track
from uavsim.ingredients.flight_sensors.units import Barometer, Gnss, Imu, InertialNoise, Magnetometer


@pytest.fixture(scope="module")
def bag(strict: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_rosbag2(ExportRequest(strict, tmp_path_factory.mktemp("bags"), split="uav_val"))[0]


@pytest.fixture(scope="module")
def read(bag: Path) -> dict[str, Any]:
    return read_bag(bag)


def test_every_message_has_the_time_of_its_sample(strict: Path, read: dict[str, Any]) -> None:
    scene, found = uavsim.open(strict).scene("scene_01"), read["found"]
    times_ns = [sample.timestamp_us * 1000 for sample in scene]
    for image in scene.samples[0].images:
        names = names_of(image.channel, style="airsim", is_optical=True)
        for content in ("rgb", "camera_info", "instance", "depth"):
            messages = found[names.topics[content]]
            assert messages["times_ns"] == messages["stamps_ns"] == times_ns
            assert messages["frame"] == names.frame
    assert found["/clock"]["times_ns"] == found["/boxes"]["times_ns"] == times_ns
    assert len(found["/tf_static"]["frames"]) == 10
    assert ["drone_1", "drone_1/back_optical"] in found["/tf_static"]["frames"]
    assert found["/tf"]["frames"] == [["map", "drone_0"], ["map", "drone_1"]] * 2


def test_values_equal_the_dataset(strict: Path, read: dict[str, Any]) -> None:
    last, found = uavsim.open(strict).scene("scene_01").samples[-1], read["found"]
    image = next(one for one in last.images if one.channel == "CAMERA_BOTTOM_id_1")
    focal_px = image.intrinsic[0, 0]  # of 160 x 90 pixels: ROS's middle is (79.5, 44.5), the corner's is (80, 45)
    info = found["/airsim_node/drone_1/bottom/Scene/camera_info"]
    assert info["k"] == [focal_px, 0, 79.5, 0, focal_px, 44.5, 0, 0, 1]
    assert found["/airsim_node/drone_1/bottom/DepthPlanar"]["middle"] == image.depth_m()[45, 80]
    boxes = last.boxes
    expected = zip(boxes.instance_tokens, boxes.categories, boxes.size_lwh_m[:, 0].tolist(), strict=True)
    assert found["/boxes"]["boxes"] == list(map(list, expected))
    odometry = found["/airsim_node/drone_1/odom_local_enu"]
    assert odometry["place"] == image.map_SE3_flu.translation_m.tolist()
    np.testing.assert_allclose(_turned(image, odometry["velocity"]), image.drone_velocity_map_mps, atol=1e-9)


def test_detections_equal_the_instance_masks(strict: Path, read: dict[str, Any]) -> None:
    last, found = uavsim.open(strict).scene("scene_01").samples[-1], read["found"]
    count = 0
    for image in last.images:
        names = names_of(image.channel, style="airsim", is_optical=True)
        one = found[names.topics["detections"]]
        assert one["frame"] == names.frame
        ids = image.mask()[0]
        expected = {}
        for n, number in enumerate(last.boxes.instance_id.tolist()):
            v, u = np.nonzero(ids == number)
            if len(v):
                bounds = [(u.min() + u.max() + 1) / 2, (v.min() + v.max() + 1) / 2, np.ptp(u) + 1, np.ptp(v) + 1]
                depth_m = image.map_SE3_optical.apply_inverse(last.boxes.map_SE3_box.translation_m[n])[2]
                expected[last.boxes.instance_tokens[n]] = pytest.approx([*bounds, depth_m], abs=1e-6)
        assert {row[0]: row[1:] for row in one["boxes_px"]} == expected
        count += len(expected)
    assert count > 10


def _turned(image: Image, velocity_flu_mps: list[float]) -> Any:
    return image.map_SE3_flu.rotation @ np.array(velocity_flu_mps)


def test_bag_converts_to_ros_1(bag: Path, tmp_path: Path, read: dict[str, Any]) -> None:
    convert_to_ros_1(bag, tmp_path / "one.bag")


def test_equal_datasets_give_equal_bytes(strict: Path, bag: Path, tmp_path: Path) -> None:
    (again,) = export_rosbag2(ExportRequest(strict, tmp_path, split="uav_val"))
    names = sorted(path.name for path in bag.iterdir())
    assert names == ["metadata.yaml", "scene_01_0.mcap"]
    assert [(again / name).read_bytes() for name in names] == [(bag / name).read_bytes() for name in names]


def test_topic_names_follow_the_style() -> None:
    name = "CAM_FRONT_id_v1"
    assert names_of(name, style="carla", is_optical=True).topics["camera_info"] == "/carla/vehicle_1/front/camera_info"
    nuscenes = names_of(name, style="nuscenes2mcap", is_optical=True)
    assert nuscenes.topics["rgb"] == "/CAM_FRONT_id_v1/image_rect_compressed"
    assert nuscenes.frame == "vehicle_1/front_optical"
    assert names_of("LIDAR_TOP_id_r0", style="airsim", is_optical=False).topics["lidar"] == (
        "/airsim_node/roadside_0/lidar/lidar_top"
    )


SUMMARY = """
import json, sys
from hashlib import md5
from pathlib import Path
from mcap.reader import NonSeekingReader, make_reader
from rosbags.rosbag2 import Reader

bag = Path(sys.argv[1])
with Reader(bag) as reader:
    print(json.dumps({c.topic: [q.durability.name for q in c.ext.offered_qos_profiles] for c in reader.connections}))
    print(reader.message_count)
with open(next(bag.glob("*.mcap")), "rb") as file:
    summary = make_reader(file).get_summary()
    print(json.dumps([len(index.message_index_offsets) for index in summary.chunk_indexes]))
    print(summary.statistics.message_count)
    print(json.dumps({c.topic: json.loads(c.metadata["offered_qos_profiles"]) for c in summary.channels.values()}))
    file.seek(0)
    rows = [(c.topic, m.log_time, len(m.data)) for _, c, m in NonSeekingReader(file).iter_messages(log_time_order=False)]
    print(json.dumps(rows))
    file.seek(0)
    found = ((s.name, s.data, c.topic, m.log_time, m.data) for s, c, m in make_reader(file).iter_messages())
    print(json.dumps([md5(repr(one).encode()).hexdigest() for one in found]))
"""


@pytest.fixture(scope="module")
def unsynchronised(strict: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a dataset in which the second drone's clock is 13 ms late."""
    root = tmp_path_factory.mktemp("clocks") / "data"
    shutil.copytree(strict, root)
    for name in ("sample_data", "ego_pose"):
        path = root / f"v1.0-mini/{name}.json"
        rows = json.loads(path.read_text())
        for row in rows:
            row["timestamp"] += 13_000 * (row.get("uav_drone_id") == 1 or "_id_1" in row.get("filename", ""))
        path.write_text(json.dumps(rows))
    return root


@pytest.mark.parametrize(("ros", "version"), [("humble", 5), ("jazzy", 9)])
def test_messages_ascend_in_time_for_both_distributions(
    ros: str, version: int, unsynchronised: Path, tmp_path: Path
) -> None:
    (bag,) = export_rosbag2(ExportRequest(unsynchronised, tmp_path, split="uav_val", ros=ros))
    metadata = json.loads((bag / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    assert metadata["version"] == version
    lines = map(json.loads, printed_by("readers", SUMMARY, bag).splitlines())
    offered, count, indexes, counted, of_channel, rows, _ = lines
    assert count == counted == metadata["message_count"] == len(rows)
    assert min(indexes) > 0
    times_ns = [time_ns for _, time_ns, _ in rows]
    assert times_ns == sorted(times_ns)
    assert len(set(times_ns)) == 4  # two samples of two clocks
    assert [topic for topic, *_ in rows[:2]] == ["/clock", "/tf_static"]
    assert [topic for topic, *_ in rows].count("/tf_static") == 1  # a latch keeps one message
    assert {topic: durability for topic, durability in offered.items() if durability != ["VOLATILE"]} == {
        "/tf_static": ["TRANSIENT_LOCAL"]
    }
    for topic in (one["topic_metadata"] for one in metadata["topics_with_message_count"]):
        quality = topic["offered_qos_profiles"]
        assert isinstance(quality, str) == ("type_description_hash" not in topic) == (ros == "humble")
        known = json.loads(quality) if isinstance(quality, str) else quality
        assert of_channel[topic["name"]] == known
        assert ros == "jazzy" or known[0]["durability"] == (1 if topic["name"] == "/tf_static" else 2)


def test_distributions_differ_only_in_channel_metadata(strict: Path, bag: Path, tmp_path: Path) -> None:
    (humble,) = export_rosbag2(ExportRequest(strict, tmp_path, split="uav_val", ros="humble"))
    first, second = (printed_by("readers", SUMMARY, folder).splitlines() for folder in (humble, bag))
    assert first[-1] == second[-1]


def test_unknown_style_or_distribution_is_refused_before_writing(strict: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'airsim'"):
        export_rosbag2(ExportRequest(strict, tmp_path / "out", topics="airsin"))
    with pytest.raises(UnknownNameError, match="did you mean 'humble'"):
        export_rosbag2(ExportRequest(strict, tmp_path / "out", ros="humbel"))
    assert not (tmp_path / "out").exists()


STREAMS = """
import json, sys
from pathlib import Path
from rosbags.highlevel import AnyReader

found = {}
with AnyReader([Path(sys.argv[1])]) as reader:
    for connection, time_ns, data in reader.messages():
        kind = connection.msgtype.rpartition("/")[2]
        if kind in ("Imu", "NavSatFix", "FluidPressure", "MagneticField"):
            m = reader.deserialize(data, connection.msgtype)
            v = {
                "Imu": lambda: [m.linear_acceleration.x, m.linear_acceleration.y, m.linear_acceleration.z],
                "NavSatFix": lambda: [m.latitude, m.longitude, m.altitude],
                "FluidPressure": lambda: [m.fluid_pressure],
                "MagneticField": lambda: [m.magnetic_field.x, m.magnetic_field.y, m.magnetic_field.z],
            }[kind]()
            found.setdefault(connection.topic, []).append([time_ns, m.header.frame_id, v])
print(json.dumps(found))
"""


def test_flight_sensor_messages_equal_the_streams(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path / "own", samples=2, sweeps=0, drones=1, size_px=(32, 18))
    (version,) = folder.glob("v1.0-*")
    scene = uavsim.open(folder).scene("scene_00")
    first_us = scene.samples[0].timestamp_us
    still = SE3(np.tile([1.0, 0, 0, 0], (11, 1)), np.zeros((11, 3)))
    track = Track(still, step_us=50_000, start_us=first_us, origin_deg_m=(45.0, 8.0, 0.0))
    motion = track.at(np.arange(3) * 5000 + first_us)
    exact = InertialNoise()
    units = {
        "imu": Imu(gyroscope=exact, accelerometer=exact),
        "gnss": Gnss(horizontal_m=0.0, vertical_m=0.0, velocity_mps=0.0),
        "barometer": Barometer(white_pa=0.0, random_walk_pa=0.0),
        "magnetometer": Magnetometer(white_ut=0.0),
    }
    rows = []
    for kind, unit in units.items():
        name = f"streams/{kind.upper()}_id_0/scene_00__{kind.upper()}_id_0.parquet"
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_bytes(to_parquet(unit.read(motion, np.random.default_rng(0)), {}))
        row = {"token": kind, "scene_token": scene.token, "channel": f"{kind.upper()}_id_0", "kind": kind}
        rows.append(row | {"motion": "planned", "rate_hz": 200.0, "count": 3, "filename": name})
    (version / "stream.json").write_text(json.dumps(rows))
    assert [stream.kind for stream in uavsim.open(folder).scene("scene_00").streams] == list(units)
    bag = export_rosbag2(ExportRequest(folder, tmp_path / "bags"))[0]
    read = json.loads(printed_by("readers", STREAMS, bag))
    times_ns = [(first_us + 5000 * n) * 1000 for n in range(3)]
    assert [(t, frame) for t, frame, _ in read["/airsim_node/drone_0/imu/imu"]] == [(t, "drone_0") for t in times_ns]
    np.testing.assert_allclose(read["/airsim_node/drone_0/imu/imu"][1][2], [0, 0, 9.81], atol=1e-9)
    np.testing.assert_allclose(read["/airsim_node/drone_0/gps/gnss"][2][2], [45, 8, 0], atol=1e-6)
    np.testing.assert_allclose(read["/airsim_node/drone_0/altimeter/barometer"][0][2], [101_325])
    np.testing.assert_allclose(read["/airsim_node/drone_0/magnetometer/magnetometer"][0][2], [0, 2e-5, -4.4e-5])
