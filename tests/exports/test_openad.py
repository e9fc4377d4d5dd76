"""A synthetic street with a bicycle on a car's roof and a cone: tables, checks, and OpenAD's files."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import uavsim
from tests.dataset_factory import table
from tests.rare_dataset import make_rare
from uavsim.dataset.convert import convert
from uavsim.errors import InputError
from uavsim.exports.formats import ExportRequest
from uavsim.exports.formats.openad import SOURCES, export_openad
from uavsim_benchmarks.evaluate.openad.evaluate_openad import evaluate_openad
from uavsim_benchmarks.evaluate.openad.files import read_openad_truth
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest


@pytest.fixture(scope="module")
def rare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_rare(tmp_path_factory.mktemp("rare") / "data")


@pytest.fixture(scope="module")
def exported(rare: Path) -> Path:
    out = rare.parent / "openad"
    export_openad(ExportRequest(rare, out))
    return out


def test_corner_case_table_groups_instances_and_names_them(rare: Path) -> None:
    (case,) = table(rare, "corner_case")
    kinds = {row["token"]: row["uav_blueprint"] for row in table(rare, "instance")}
    assert [kinds[token] for token in case["instance_tokens"]] == ["vehicle.audi.etron", "static.prop.mesh"]
    assert (case["tag"], case["synonyms"], case["seen"]["nuscenes"]) == ("bicycle_on_car_roof", ["roof_bike"], False)
    assert case["attributes"] == {"state": "parked"}
    tags = {kinds[row["instance_token"]]: row["tag"] for row in table(rare, "object_tag")}
    assert tags["static.prop.trafficcone01"] == "traffic_cone"
    assert tags["vehicle.tesla.model3"] == "car"


def test_props_have_their_nuscenes_category_and_no_attribute(rare: Path) -> None:
    names = {row["token"]: row["name"] for row in table(rare, "category")}
    category = {row["uav_blueprint"]: names[row["category_token"]] for row in table(rare, "instance")}
    assert category["static.prop.trafficcone01"] == "movable_object.trafficcone"
    assert category["static.prop.mesh"] == "movable_object.debris"
    assert category["vehicle.audi.etron"] == "vehicle.car"
    boxes = [row for row in table(rare, "sample_annotation") if row["uav_blueprint"].startswith("static.")]
    assert boxes
    assert all(row["attribute_tokens"] == [] for row in boxes)


def test_uav3d_dialect_refuses_corner_cases(rare: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="UAV3D's tools would count as cars"):
        convert(rare, tmp_path / "uav3d", dialect="uav3d")


def test_openad_reader_reads_the_files(exported: Path) -> None:
    first = SOURCES["av2"] + SOURCES["kitti"]  # first number of nuScenes, the scene's domain
    info = json.loads((exported / "infos" / f"{first}.json").read_text("utf-8"))
    assert info["dataset"] == "nuscenes"
    truth = read_openad_truth(exported)
    assert truth.source == ["nuscenes"]
    assert sorted(set(truth.tags[0])) == ["bicycle_on_car_roof", "car", "traffic_cone"]
    row = truth.tags[0].index("bicycle_on_car_roof")
    assert truth.in_training[0][row].tolist() == [0, 0, 0, 0, 0]
    assert truth.in_training[0][truth.tags[0].index("car")].tolist() == [0, 1, 1, 0, 0]
    pickled = read_openad_truth(exported / "gt.pkl")
    np.testing.assert_allclose(pickled.boxes[first], truth.boxes[0], rtol=1e-5, atol=1e-5)


def test_merged_box_encloses_car_and_bicycle(exported: Path) -> None:
    (info,) = (json.loads(path.read_text("utf-8")) for path in (exported / "infos").glob("*.json"))
    (rare_one,) = (entry for entry in info["uav_objects"] if entry["corner_case"])
    assert len(rare_one["instance_ids"]) == 2
    truth = read_openad_truth(exported)
    height, width, length = truth.boxes[0][truth.tags[0].index("bicycle_on_car_roof")][4:7].tolist()
    # the car's 4.856 x 2.032 m, and from the road to the top of a bicycle of 1.04 m on a roof at 1.65 m
    np.testing.assert_allclose([height, width, length], [2.69, 2.032, 4.856], atol=1e-3)


def test_3d_box_centres_project_into_2d_boxes(exported: Path) -> None:
    (info,) = (json.loads(path.read_text("utf-8")) for path in (exported / "infos").glob("*.json"))
    k, truth = info["camera_internal"], read_openad_truth(exported)
    for row, entry in zip(truth.boxes[0], info["uav_objects"], strict=True):
        x, y, z = row[7:10].tolist()
        u, v = k["fx"] * x / z + k["cx"], k["fy"] * y / z + k["cy"]
        x0, y0, x1, y1 = entry["amodal_box"]
        assert x0 <= u <= x1
        assert y0 <= v <= y1


def test_heading_is_kittis_rotation_about_the_optical_y_axis(rare: Path, exported: Path) -> None:
    """At 0 an object's level nose points right in the image, at -pi/2 into it."""
    (info,) = (json.loads(path.read_text("utf-8")) for path in (exported / "infos").glob("*.json"))
    sample = next(s for s in uavsim.open(rare).scene("scene_00").samples if s.token == info["uav_sample_token"])
    optical = next(i for i in sample.images if i.channel == "CAMERA_BOTTOM_id_0").map_SE3_optical
    for row, entry in zip(read_openad_truth(exported).boxes[0], info["uav_objects"], strict=True):
        box = sample.boxes.map_SE3_box[int(np.flatnonzero(sample.boxes.instance_id == entry["instance_ids"][0])[0])]
        ahead_m, left_m = (box.apply(axis) - box.translation_m for axis in np.eye(3)[:2])
        level_m = ahead_m if np.hypot(*ahead_m[:2]) > 0.5 else left_m  # an upended box has the heading of its side
        ends_m = box.translation_m + np.outer([0.0, 1.0], level_m * [1.0, 1.0, 0.0])
        right, _, into = np.diff(optical.apply_inverse(ends_m), axis=0)[0]
        length = np.hypot(right, into)
        np.testing.assert_allclose([np.cos(row[10]), -np.sin(row[10])], [right / length, into / length], atol=1e-5)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_ground_truth_as_result_scores_one(exported: Path, tmp_path: Path, dimensions: int) -> None:
    with (exported / "gt.pkl").open("rb") as file:
        scenes, tags, features = pickle.load(file)
    box_columns = slice(0, 4) if dimensions == 2 else slice(4, 11)
    found = [[[*row[box_columns], row[-1]] for row in scene] for scene in scenes]
    trained = {name: name == "nuscenes" for name in SOURCES}
    result = tmp_path / "result.pkl"
    result.write_bytes(pickle.dumps([found, tags, features, trained]))
    request = EvaluationRequest(
        truth=exported / "gt.pkl", results=result, mode="official", options={"dimensions": str(dimensions)}
    )
    scores = evaluate_openad(request).scores
    assert scores["ap"] == scores["ar"] == pytest.approx(1.0)
    assert scores["objects"]["in_domain_unseen"] == 1
    assert scores["ar_in_domain_unseen"] == 1.0


def test_dataset_without_corner_cases_is_refused(strict: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no corner case"):
        export_openad(ExportRequest(strict, tmp_path / "out"))
