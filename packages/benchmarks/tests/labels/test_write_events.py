"""Labels of a small dataset against its tables, and damaged files."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import uavsim
from tests.hostile.damages import DAMAGES
from uavsim.config.events import EventThresholds
from uavsim.errors import DatasetError, InputError
from uavsim.files.whole import to_json_bytes
from uavsim.images import codec
from uavsim_benchmarks.labels.causes import CAUSES
from uavsim_benchmarks.labels.twin_tables import read_twins
from uavsim_benchmarks.labels.values import VALUES_FILE, VALUES_SUMMARY_FILE, write_values
from uavsim_benchmarks.labels.write_events import IMAGE_FILE, SAMPLE_FILE, SUMMARY_FILE, write_events

THRESHOLDS = EventThresholds()


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def out(labelled_set: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("events")
    write_events(uavsim.open(labelled_set), folder, THRESHOLDS)
    return folder


def test_every_image_has_a_row_whose_counts_are_those_of_the_tables(labelled_set: Path, out: Path) -> None:
    rows = {row["sample_data_token"]: row for row in lines(out / IMAGE_FILE)}
    images = [image for sample in uavsim.open(labelled_set).samples() for image in sample.images]
    assert set(rows) == {image.token for image in images}
    visible_counts = dict.fromkeys(rows, 0)
    for sample in uavsim.open(labelled_set).samples():
        for views in sample.boxes.views:
            for view in views:
                visible_counts[view["sample_data_token"]] += view["visible_px"] >= THRESHOLDS.objects.seen_px
    assert {token: row["object_count"] for token, row in rows.items()} == visible_counts
    for row in rows.values():
        assert sum(row["object_types"].values()) == row["object_count"]
        assert 1 <= row["quality"] <= 5
        assert {d["kind"] for d in row["degradations"]} <= set(CAUSES)
        asks = row["collaboration"]
        assert asks["when"] == bool(asks["who"]) == bool(asks["what"]) == bool(asks["why"])
        for issue in row["perception_issues"]:
            x, y, width, height = issue["box_percent"]
            assert 0 <= x <= x + width <= 100.01
            assert 0 <= y <= y + height <= 100.01


def test_samples_sum_their_images_up(out: Path) -> None:
    images, samples = lines(out / IMAGE_FILE), lines(out / SAMPLE_FILE)
    for sample in samples:
        image_rows = [row for row in images if row["sample_token"] == sample["sample_token"]]
        assert sample["images_that_ask"] == sum(row["collaboration"]["when"] for row in image_rows)
        assert sum(map(sum, sample["asked"])) == sum(len(row["collaboration"]["who"]) for row in image_rows)
        assert sample["seen_by_swarm"] <= sample["objects"]
    summary = json.loads((out / SUMMARY_FILE).read_text())
    assert summary["images"] == len(images) == sum(summary["quality"].values())
    assert summary["thresholds"] == json.loads(THRESHOLDS.model_dump_json())


@pytest.mark.release
def test_values_beside_the_labels_are_those_of_their_own_command(labelled_set: Path, out: Path, tmp_path: Path) -> None:
    data = uavsim.open(labelled_set)
    alone = write_values(data, tmp_path / "alone", THRESHOLDS)
    summary = write_events(data, tmp_path / "labels", THRESHOLDS, collaboration=tmp_path / "values", workers=2)
    for name in (IMAGE_FILE, SAMPLE_FILE):
        assert (tmp_path / "labels" / name).read_bytes() == (out / name).read_bytes()
    assert (tmp_path / "values" / VALUES_FILE).read_bytes() == (tmp_path / "alone" / VALUES_FILE).read_bytes()
    written = (tmp_path / "values" / VALUES_SUMMARY_FILE).read_bytes()
    assert written == (tmp_path / "alone" / VALUES_SUMMARY_FILE).read_bytes()
    for found in (alone, summary["collaboration"]):
        assert json.loads(written) == {name: value for name, value in found.items() if name != "seconds"}


def test_the_same_again_is_the_same_bytes(labelled_set: Path, out: Path, tmp_path: Path) -> None:
    write_events(uavsim.open(labelled_set), tmp_path, THRESHOLDS)
    for name in (IMAGE_FILE, SAMPLE_FILE, SUMMARY_FILE):
        assert (tmp_path / name).read_bytes() == (out / name).read_bytes()


def test_a_damaged_mask_is_one_line_and_leaves_nothing(labelled_set: Path, tmp_path: Path) -> None:
    root = tmp_path / "data"
    shutil.copytree(labelled_set, root)
    mask = sorted((root / "masks").rglob("*.png"))[-1]
    mask.write_bytes(mask.read_bytes()[:200])
    with pytest.raises(DatasetError, match=r"\.png|bytes") as error:
        write_events(uavsim.open(root), tmp_path / "out", THRESHOLDS)
    assert "\n" not in str(error.value)
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("folder", ["samples", "masks"])
def test_an_image_larger_than_declared_is_refused_before_it_is_decoded(
    labelled_set: Path, tmp_path: Path, folder: str
) -> None:
    root = tmp_path / "data"
    shutil.copytree(labelled_set, root)
    path = sorted((root / folder).rglob("*.png"))[0]
    data = codec.encode_png(np.zeros((900, 1600, 3), np.uint8), filter_rows="sub" if folder == "samples" else "up")
    path.unlink()  # a hard link: what is written would be the other dataset's too
    path.write_bytes(data)
    with pytest.raises(DatasetError, match=f"{path.name}: 1600 x 900 pixels, its dataset declares"):
        write_events(uavsim.open(root), tmp_path / "out", THRESHOLDS)


def test_an_image_that_is_gone_is_lost(labelled_set: Path, tmp_path: Path) -> None:
    root = tmp_path / "data"
    shutil.copytree(labelled_set, root)
    first = next(uavsim.open(root).samples()).images[0]
    (root / first.filename).unlink()
    write_events(uavsim.open(root), tmp_path / "out", THRESHOLDS)
    row = lines(tmp_path / "out" / IMAGE_FILE)[0]
    assert (row["quality"], row["usable"], row["object_count"], row["quality_by"]) == (1, False, 0, "lost")
    assert row["degradations"][0]["kind"] == "image_loss"
    assert row["collaboration"]["why"] == ["image_loss"]


def test_a_dataset_of_others_is_refused_and_ours_is_reported_what_to_do(labelled_set: Path, tmp_path: Path) -> None:
    root = tmp_path / "data"
    shutil.copytree(labelled_set, root)
    (root / "v1.0-mini/visibility_detail.json").write_text("[]")
    with pytest.raises(InputError, match=r"visibility_detail.*cannot be rebuilt without the recordings"):
        write_events(uavsim.open(root), tmp_path / "out", THRESHOLDS)
    (root / ".uavsim/recordings").mkdir(parents=True)
    with pytest.raises(InputError, match=r"visibility_detail.*rebuild it from the recordings with uavsim annotate \S+"):
        write_events(uavsim.open(root), tmp_path / "out", THRESHOLDS)


def test_boxes_that_no_image_shows_are_no_fault_of_the_table(labelled_set: Path, tmp_path: Path) -> None:
    root = tmp_path / "data"
    shutil.copytree(labelled_set, root)
    table = root / "v1.0-mini/visibility_detail.json"
    rows = json.loads(table.read_text())
    table.write_text(json.dumps([row | {"views": [], "seen_by": []} for row in rows]))
    summary = write_events(uavsim.open(root), tmp_path / "out", THRESHOLDS)
    assert (summary["objects_in_images"], summary["perception_issues"]) == (0, 0)


def test_a_view_without_a_key_is_one_line_that_names_the_sample(labelled_set: Path, tmp_path: Path) -> None:
    root = tmp_path / "data"
    shutil.copytree(labelled_set, root)
    table = root / "v1.0-mini/visibility_detail.json"
    table.write_text(table.read_text().replace('"truncation"', '"trunk"'))
    with pytest.raises(DatasetError, match=r"scene_00, sample 0.*truncation") as error:
        write_events(uavsim.open(root), tmp_path / "out", THRESHOLDS)
    assert error.value.exit_code == 4
    assert not (tmp_path / "out").exists()


def test_twins_of_another_form_are_refused(tmp_path: Path) -> None:
    for text, kind in (("[", InputError), ('[{"twin": 1}]', InputError), ("{}", InputError)):
        (tmp_path / "twin.json").write_text(text)
        with pytest.raises(kind, match=r"twin\.json"):
            read_twins(tmp_path)
    row = {"sample_data_token": [], "twin": 1, "kind": "weather", "filename": "a.png"}
    (tmp_path / "twin.json").write_text(json.dumps([row]))
    (tmp_path / "a.png").write_bytes(b"")
    with pytest.raises(DatasetError, match="another form"):
        read_twins(tmp_path)


def test_a_twin_names_the_occluder_and_proves_it(labelled_set: Path, tmp_path: Path) -> None:
    sample = next(uavsim.open(labelled_set).samples())
    boxes, image = sample.boxes, sample.images[0]
    row = next(
        n
        for n, views in enumerate(boxes.views)
        if any(v["sample_data_token"] == image.token and v["visible_px"] >= 12 for v in views)
    )
    cause = {
        "sample_annotation_token": boxes.tokens[row], "sample_data_token": image.token, "twin": "without-occluders",
        "occluded_by_instance_token": boxes.instance_tokens[row - 1], "covered_px": 9, "twin_visible_px": 90, "proven": True,
    }  # fmt: skip
    twins = tmp_path / "twins"
    twins.mkdir()
    with pytest.raises(InputError, match="uavsim twins"):
        read_twins(twins)
    (twins / "twin.json").write_bytes(to_json_bytes([]))
    (twins / "occlusion_cause.json").write_bytes(to_json_bytes([cause, cause | {"twin": "other", "proven": False}]))
    thresholds = EventThresholds.model_validate({"objects": {"occluded_share": 0.0, "least_amodal_px": 1}})
    data = tmp_path / "data"
    shutil.copytree(labelled_set, data)
    _occlude(data / "v1.0-mini/visibility_detail.json", boxes.tokens[row])
    write_events(uavsim.open(data), tmp_path / "out", thresholds, twins=read_twins(twins))
    found = lines(tmp_path / "out" / IMAGE_FILE)[0]
    (issue,) = [i for i in found["perception_issues"] if i["sample_annotation_token"] == boxes.tokens[row]]
    assert issue["occluded_by"]["instance_token"] == boxes.instance_tokens[row - 1]
    assert issue["occluded_by"]["proof"] == {"twin": "without-occluders", "twin_visible_px": 90, "proven": True}


def _occlude(table: Path, token: str) -> None:
    rows = json.loads(table.read_text())
    for row in rows:
        for view in row["views"] if row["sample_annotation_token"] == token else ():
            view["occlusion"], view["amodal_px"] = 0.5, max(2 * view["visible_px"], 10)
    table.write_text(json.dumps(rows))


@pytest.mark.parametrize("damage", ["no token", "text for a number", "huge coordinates"])
def test_a_damaged_table_is_one_line(damage: str, labelled_set: Path, tmp_path: Path) -> None:
    root = tmp_path / "data"
    shutil.copytree(labelled_set, root)
    DAMAGES[damage](root)
    with pytest.raises(DatasetError) as error:
        write_events(uavsim.open(root), tmp_path / "out", THRESHOLDS)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()
