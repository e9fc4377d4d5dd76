"""Boxes and files that are wrong: one line each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from uavsim.errors import InputError
from uavsim.evaluate.boxes import Boxes
from uavsim.evaluate.nuscenes_detection import CLASSES
from uavsim.evaluate.readers.nuscenes_results import ResultReader

BOX: dict[str, Any] = {
    "sample_token": "s0", "translation": [1.0, 2.0, 3.0], "size": [2.0, 4.0, 1.5], "rotation": [1.0, 0.0, 0.0, 0.0],
    "velocity": [0.0, 0.0], "detection_name": "car", "detection_score": 0.5, "attribute_name": "",
}  # fmt: skip


def read(folder: Path, text: str | dict[str, Any], *, name: str = "r.json", **choices: Any) -> Boxes:
    file = folder / name
    file.write_text(text if isinstance(text, str) else json.dumps(text))
    reader = ResultReader(file, {"s0": 0, "s1": 1}, {"s0": 0, "s1": 1, "s2": 2}, CLASSES, **choices)
    return Boxes.concat(list(reader.blocks()))


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
