"""Result files that are cut off, wrong or hostile: one line each, and bounded memory."""

from __future__ import annotations

import io
import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from uavsim.errors import InputError
from uavsim.evaluate.boxes import Boxes
from uavsim.evaluate.nuscenes_detection import CLASSES
from uavsim.evaluate.readers import json_stream
from uavsim.evaluate.readers.json_stream import JsonStream, read_json
from uavsim.evaluate.readers.nuscenes_results import ResultReader
from uavsim.evaluate.readers.opv2v import read_opv2v_truth
from uavsim.evaluate.readers.pickles import read_pickle

BOX: dict[str, Any] = {
    "sample_token": "s0", "translation": [1.0, 2.0, 3.0], "size": [2.0, 4.0, 1.5], "rotation": [1.0, 0.0, 0.0, 0.0],
    "velocity": [0.0, 0.0], "detection_name": "car", "detection_score": 0.5, "attribute_name": "",
}  # fmt: skip


def read(folder: Path, text: str | dict[str, Any], *, name: str = "r.json", **choices: Any) -> Boxes:
    file = folder / name
    file.write_text(text if isinstance(text, str) else json.dumps(text))
    reader = ResultReader(file, {"s0": 0, "s1": 1}, {"s0": 0, "s1": 1, "s2": 2}, CLASSES, **choices)
    return Boxes.concat(list(reader.blocks()))


@pytest.mark.parametrize("chunk", [1, 7, 4096])
def test_a_file_is_read_in_any_steps(chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "_CHUNK_BYTES", chunk)
    content = {"meta": {"ä": 1}, "results": {"s0": [BOX, BOX], "s1": [], "s2": [BOX]}, "more": -1.5e3}
    boxes = read(tmp_path, json.dumps(content, indent=1, ensure_ascii=False))
    assert boxes.sample.tolist() == [0, 0]
    assert boxes.size_m[0].tolist() == [2.0, 4.0, 1.5]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"detection_score": float("nan")}, "detection_score is nan"),
        ({"detection_score": "high"}, "not a number"),
        ({"translation": [1.0, 2.0]}, "translation is not 3 numbers"),
        ({"translation": [1.0, 2.0, float("inf")]}, "translation is not finite"),
        ({"rotation": None}, "rotation is not 4 numbers"),
        ({"detection_name": "cars"}, "did you mean 'car'"),
        ({"attribute_name": "flying"}, "none of nuScenes' attributes"),
    ],
)
def test_a_bad_box_is_named(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read(tmp_path, {"results": {"s0": [BOX | change]}})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"results": {"nobody": []}}, "'nobody' is not in the data set"),
        ({"results": {"s0": [BOX] * 501}}, "501 boxes; only 500"),
        ({"results": {"s0": {}}}, "not a list of boxes"),
        ({"results": {"s0": [{k: v for k, v in BOX.items() if k != "size"}]}}, "no 'size'"),
        ({"results": {"s0": [3]}}, "not a JSON object"),
        ({"meta": {}}, "no key 'results'"),
        ("[]", "not a JSON object"),
        ("", "cut off"),
        ('{"results": {"s0": [', "cut off"),
        ('{"results": {"s0": []', "cut off"),
        ('{"results": {"s0": []}} x', "not JSON"),
        ('{"results": {"s0" []}}', "not JSON"),
        ('{"results": {"s0": [], "s0": []}}', "there twice"),
        ('{"a": ' + "[" * 100_000 + "}", "nested too deeply"),
    ],
)
def test_a_bad_file_is_one_line(content: str | dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read(tmp_path, content)
    assert "\n" not in str(caught.value)


def test_one_endless_value_is_refused_before_it_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_stream, "_CHUNK_BYTES", 1024)
    monkeypatch.setattr(json_stream, "_LONGEST_VALUE", 4096)
    with pytest.raises(InputError, match="no JSON value of up to 4,096 characters at character"):
        read(tmp_path, '{"results": {"s0": [' + '{"a": 1}, ' * 5000 + "{}]}}")


def test_what_is_not_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(b"\xff\xfe{")
    with JsonStream(file) as stream, pytest.raises(InputError, match="not UTF-8"):
        next(stream.members("it"))


def test_a_whole_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    with file.open("wb") as sparse:
        sparse.truncate(2 << 30)
    with pytest.raises(InputError, match=r"2\.1 GB"):
        read_json(file)
    with pytest.raises(InputError, match=r"larger than 1\.1 GB"):
        read_pickle(file)


class Hostile:
    def __reduce__(self) -> Any:
        return os.mkdir, ("uavsim-was-here",)  # in the folder that the test runs in


@pytest.mark.parametrize("value", [Hostile(), {"results": [Hostile()]}, io.StringIO, np.random.default_rng])
def test_a_pickle_that_asks_for_code_is_refused_unrun(
    value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "x.pkl"
    file.write_bytes(pickle.dumps(value))
    with pytest.raises(InputError, match="nothing of it was run"):
        read_pickle(file)
    assert [path.name for path in tmp_path.iterdir()] == ["x.pkl"]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plain_pickles_are_read(protocol: int, tmp_path: Path) -> None:
    file = tmp_path / "x.pkl"
    content = {"a": [1, 2.5, "x", None, True], "b": np.arange(6.0).reshape(2, 3), "c": np.float64(2), "d": (1, {2})}
    file.write_bytes(pickle.dumps(content, protocol=protocol))
    told = read_pickle(file)
    np.testing.assert_array_equal(told.pop("b"), content.pop("b"))
    assert told == content
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"cut off|refused"):
        read_pickle(file)


def test_results_in_a_plain_pickle_count_and_mmdet3ds_own_are_refused_with_a_way_out(tmp_path: Path) -> None:
    file = tmp_path / "r.pkl"
    file.write_bytes(pickle.dumps({"results": {"s0": [BOX | {"translation": np.array([1.0, 2.0, 3.0])}]}}))
    reader = ResultReader(file, {"s0": 0}, {"s0": 0}, CLASSES)
    assert len(Boxes.concat(list(reader.blocks()))) == 1
    file.write_bytes(pickle.dumps([{"pred_instances_3d": {}}]))
    with pytest.raises(InputError, match="jsonfile_prefix"):
        list(ResultReader(file, {}, {}, CLASSES).blocks())


def test_an_opv2v_folder(tmp_path: Path) -> None:
    vehicle = "{location: [10, 2, 0], center: [0.5, 0, 0.8], extent: [2.4, 1.0, 0.8], angle: [0, 90, 0], speed: 3}"
    for agent, vehicles in (("0", f"{{7: {vehicle}}}"), ("1", f"{{7: {vehicle}, 8: {vehicle}}}")):
        folder = tmp_path / "2021_08" / agent
        folder.mkdir(parents=True)
        (folder / "000068.yaml").write_text(f"lidar_pose: [1, 2, 3, 0, 0, 0]\nvehicles: {vehicles}\n")
    truth = read_opv2v_truth(tmp_path)
    assert list(truth.samples) == ["2021_08/000068"]
    assert truth.ego_m.tolist() == [[1.0, 2.0, 3.0]]
    np.testing.assert_allclose(truth.boxes.centre_m, [[10.5, 2.0, 0.8]] * 2)
    np.testing.assert_allclose(truth.boxes.size_m[0], [2.0, 4.8, 1.6])
    assert truth.boxes.yaw_rad[0] == pytest.approx(np.pi / 2)
    (folder / "000068.yaml").write_text("lidar_pose: [1, 2, 3, 0, 0, 0]\nvehicles: {7: {location: x}}\n")
    with pytest.raises(InputError, match="location"):
        read_opv2v_truth(tmp_path)
    with pytest.raises(InputError, match="nor an OPV2V folder"):
        read_opv2v_truth(tmp_path / "2021_08")
