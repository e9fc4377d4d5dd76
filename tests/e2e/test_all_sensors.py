"""All sensors of each backend, from YAML to a dataset that validator and devkit accept."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import uavsim
from tests.e2e.flights import Flights
from tests.ros_bags import convert_to_ros_1, read_bag
from uavsim.exports.formats import ExportRequest
from uavsim.exports.formats.rosbag2 import export_rosbag2
from uavsim.exports.formats.rosbag2.topics import names_of
from uavsim.images import codec, flow
from uavsim.validate.devkit_process import run_judge
from uavsim.validate.validator import validate_version

pytestmark = pytest.mark.release


@pytest.fixture(scope="module", params=["carla", "merged"])
def flown(request: pytest.FixtureRequest, flights: Flights) -> tuple[str, Path]:
    return request.param, flights.all_sensors(request.param)


def test_everything_asked_for_is_there(flown: tuple[str, Path]) -> None:
    topology, out = flown
    kinds = ["instance", "depth", "semantic", "lidar_instance"] + ["optical_flow", "events", "radar_instance"] * (
        topology == "carla"
    )
    layer = json.loads((out / "v1.0-mini/layer.json").read_bytes())
    assert {row["kind"] for row in layer} == set(kinds)
    assert all((out / row["filename"]).is_file() for row in layer)
    assert [len(list((out / f"samples/{name}_id_3").iterdir())) for name in ("LIDAR", "LIDAR_NOSE")] == [2, 2]


def test_the_validator_and_the_devkit_agree(flown: tuple[str, Path]) -> None:
    _, out = flown
    found = [f for f in validate_version(out, "v1.0-mini", workers=1).findings if not f.code.startswith("motion")]
    assert found == []
    report = run_judge(
        "devkit_check", str(out), "v1.0-mini", *(f"--only={check}" for check in ("tables", "lidar", "radar"))
    )
    lidar = report["checks"]["lidar"]
    assert report["ok"], lidar
    assert lidar["lidars"] == 10
    assert lidar["compared_with_depth"] > 5000
    assert lidar["share_as_deep"] > 0.97
    radar = report["checks"]["radar"]
    assert radar["radars"] == (5 if flown[0] == "carla" else 0)
    if radar["radars"]:
        assert radar["detections"] > 5000
        assert radar["on_objects"] > 20
        assert radar["worst_mps"] < 0.05


def test_semantic_classes_are_those_of_the_masks(flown: tuple[str, Path]) -> None:
    _, out = flown
    for path in sorted((out / "semantic").rglob("*.png"))[:4]:
        tags = codec.decode_tags(path)
        np.testing.assert_array_equal(
            tags, codec.mask_ids_and_tags(out / "masks" / path.relative_to(out / "semantic"))[1]
        )
        assert len(np.unique(tags)) > 3


def test_flow_takes_each_pixel_back_to_where_it_was(flown: tuple[str, Path]) -> None:
    topology, out = flown
    if topology != "carla":
        return
    first, second = sorted((out / "optical_flow/CAMERA_BOTTOM_id_1").iterdir())
    assert np.isnan(flow.decode_flow(first)).all()
    flow_px = flow.decode_flow(second)
    before, after = (codec.decode_rgb(p).astype(int) for p in sorted((out / "samples/CAMERA_BOTTOM_id_1").iterdir()))
    v, u = np.indices(flow_px.shape[:2])
    was_u, was_v = np.rint(u - flow_px[..., 0]).astype(int), np.rint(v - flow_px[..., 1]).astype(int)
    inside = (was_u >= 0) & (was_u < 320) & (was_v >= 0) & (was_v < 180)
    warped = np.abs(before[was_v[inside], was_u[inside]] - after[inside]).mean()
    unwarped = np.abs(before - after)[inside].mean()
    assert inside.mean() > 0.5
    assert warped < 0.4 * unwarped


def test_a_bag_of_five_drones_has_every_reading_at_the_tables_times(flown: tuple[str, Path], tmp_path: Path) -> None:
    topology, out = flown
    (bag,) = export_rosbag2(ExportRequest(out, tmp_path / "bags"))
    found = read_bag(bag)["found"]
    tables = {
        name: json.loads((out / f"v1.0-mini/{name}.json").read_bytes()) for name in ("sensor", "sample_data", "stream")
    }
    mounts = json.loads((out / "v1.0-mini/calibrated_sensor.json").read_bytes())
    sensors = {row["token"]: row for row in tables["sensor"]}
    of_mount = {row["token"]: sensors[row["sensor_token"]] for row in mounts}
    times_ns: dict[str, list[int]] = {}
    for row in sorted(tables["sample_data"], key=lambda row: row["timestamp"]):
        sensor = of_mount[row["calibrated_sensor_token"]]
        names = names_of(sensor["channel"], style="airsim", is_optical=sensor["modality"] == "camera")
        carried: tuple[str, ...] = {"camera": ("rgb", "camera_info", "instance", "depth")}.get(
            sensor["modality"], (sensor["modality"],)
        )
        carried += ("detections",) if sensor["modality"] == "camera" and row["is_key_frame"] else ()
        for content in carried if sensor["channel"] != "LIDAR_TOP" else ():
            times_ns.setdefault(names.topics[content], []).append(row["timestamp"] * 1000)
    for row in tables["stream"]:
        topic = names_of(row["channel"], style="airsim", is_optical=False).topics[row["kind"]]
        times_ns[topic] = (pq.read_table(out / row["filename"])["timestamp_us"].to_numpy() * 1000).tolist()
    assert {topic: found[topic]["times_ns"] for topic in times_ns} == times_ns
    assert {topic: found[topic]["stamps_ns"] for topic in times_ns} == times_ns
    samples_ns = [sample.timestamp_us * 1000 for sample in uavsim.open(out).samples()]
    drones = [f"/airsim_node/drone_{n}/odom_local_enu" for n in range(5)]
    assert [found[topic]["stamps_ns"] for topic in ["/boxes", *drones]] == [samples_ns] * 6
    assert found.keys() == times_ns.keys() | {"/clock", "/tf", "/tf_static", "/boxes", *drones}
    assert len(found) == 4 + 5 * (
        1 + 2 * 5 + 2 + (topology == "carla") + 2
    )  # two cameras of five topics, two lidars, two streams
    convert_to_ros_1(bag, tmp_path / "one.bag")
