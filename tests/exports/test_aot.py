"""AOT files: content, and agreement with the evaluation's reader and AOT's encounter rule."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from tests.dataset_factory import make_dataset
from tests.encounter_factory import FRAMES, START_M, make_encounter_dataset
from uavsim.errors import InputError
from uavsim.exports.formats import EXPORTERS, ExportRequest
from uavsim.exports.formats.aot_encounters import Row, valid_encounters
from uavsim.images import codec
from uavsim_benchmarks.evaluate.aot.encounters import find_encounters
from uavsim_benchmarks.evaluate.aot.files import read_aot_truth

LISTED = "valid_encounters_maxRange700_maxGap3_minEncLen30"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root, out = tmp_path_factory.mktemp("air"), tmp_path_factory.mktemp("aot")
    make_encounter_dataset(root)
    EXPORTERS.pick("aot")(ExportRequest(root, out))
    return out


def test_ground_truth_has_aots_form(exported: Path) -> None:
    reported = json.loads((exported / "part1/ImageSets/groundtruth.json").read_text())

    assert len(reported["samples"]) == 2
    assert reported["metadata"]["profile"] == "aot"
    for flight, sample in reported["samples"].items():
        assert len(flight) == 32
        assert sample["metadata"]["fps"] == 10.0
        assert sample["metadata"]["number_of_frames"] == FRAMES
        assert sample["metadata"]["duration"] == pytest.approx(FRAMES * 100.0)
        assert sample["metadata"]["resolution"] == {"height": 160, "width": 200}
        assert [entity["blob"]["frame"] for entity in sample["entities"]] == list(range(FRAMES))
        for entity in sample["entities"]:
            assert entity["img_name"] == f"{entity['time']:019d}{flight}.png"
            assert (exported / "part1/Images" / flight / entity["img_name"]).is_file()
    first = next(iter(reported["samples"].values()))["entities"][0]
    assert first["id"] == "Airplane1"
    assert first["blob"]["range_distance_m"] == pytest.approx(np.sqrt(START_M**2 + 12.0**2 + 30.0**2), abs=1e-9)
    assert first["labels"] == {"is_above_horizon": 1}


def test_images_are_grey(exported: Path) -> None:
    image = next((exported / "part1/Images").rglob("*.png"))
    assert image.read_bytes()[25] == 0  # the PNG's colour type
    assert codec.image_size(image) == (200, 160)


def test_evaluation_finds_the_written_encounters(exported: Path) -> None:
    truth, images = read_aot_truth(exported / "part1")
    found = find_encounters(truth.flight, truth.object_, truth.time, truth.frame, truth.range_m)

    with (exported / f"part1/ImageSets/{LISTED}.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(images) == 2 * FRAMES
    assert {float(row["is_above_horizon"]) for row in rows} == {-1.0, 1.0}
    assert len(rows) == 2 == found.valid.sum()
    assert all(float(row["min_enc_range"]) < 330 for row in rows)
    records = (
        (exported / f"part1/ImageSets/{LISTED}.json").read_text().split("\n\n    ")
    )  # as the starter kit's loader does
    assert [json.loads(record)["flight_id"] for record in records] == [row["flight_id"] for row in rows]
    reported = json.loads((exported / "encounters.json").read_text())
    assert {flight["encounters"][0]["kind"] for flight in reported} == {"aeroplane"}


def test_gap_of_more_than_three_frames_splits_an_encounter() -> None:
    def rows(frames: list[int], *, range_m: float = 300.0) -> list[Row]:
        return [Row("f", f"{k:03d}.png", k, k, "Airplane1", (0, 0, 6, 6), range_m, 1) for k in frames]

    forty_frames = list(range(40))
    assert len(valid_encounters(rows(forty_frames))) == 1
    assert valid_encounters(rows(forty_frames[:29])) == []
    assert valid_encounters(rows(forty_frames, range_m=400.0)) == []  # never nearer than 330 m
    assert len(valid_encounters(rows([*forty_frames, *range(42, 80)]))) == 1
    (first, second) = valid_encounters(rows([*forty_frames, *range(43, 80)]))
    assert (first.record["framemax"], second.record["framemin"]) == (39, 43)


def test_dataset_without_encounters_is_refused(tmp_path: Path) -> None:
    make_dataset(tmp_path / "d", scenes=1)
    with pytest.raises(InputError, match="no scene has encounters"):
        EXPORTERS.pick("aot")(ExportRequest(tmp_path / "d", tmp_path / "out"))
