"""Invalid boxes and files: one line each."""

from pathlib import Path
from typing import Any

import pytest

from evaluate.readers.result_files import BOX, read
from uavsim.errors import InputError


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"detection_score": float("nan")}, "detection_score is nan"),
        ({"detection_score": "high"}, "not a number"),
        ({"translation": [1.0, 2.0]}, "translation is not 3 numbers"),
        ({"translation": [1.0, 2.0, float("inf")]}, "translation is not finite"),
        ({"rotation": None}, "rotation is not 4 numbers"),
        ({"detection_name": "cars"}, "did you mean 'car'"),
        ({"attribute_name": "flying"}, "not a nuScenes attribute"),
    ],
)
def test_a_bad_box_is_named(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read(tmp_path, {"results": {"s0": [BOX | change]}})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"results": {"nobody": []}}, "'nobody' is not in the dataset"),
        ({"results": {"s0": [BOX] * 501}}, "501 boxes; only 500"),
        ({"results": {"s0": {}}}, "not a list of boxes"),
        ({"results": {"s0": [{k: v for k, v in BOX.items() if k != "size"}]}}, "no 'size'"),
        ({"results": {"s0": [3]}}, "not a JSON object"),
        ({"meta": {}}, "key 'results' is missing"),
        ({"meta": [], "results": {}}, "'meta' is not a JSON object"),
        ({"results": {"s0": [BOX | {"sample_token": [1]}]}}, r"sample_token is '\[1\]', not a string"),
        ("[]", "not a JSON object"),
        ("", "truncated"),
        ('{"results": {"s0": [', "truncated"),
        ('{"results": {"s0": []', "truncated"),
        ('{"results": {"s0": []}} x', "not JSON"),
        ('{"results": {"s0" []}}', "not JSON"),
        ('{"results": {"s0": [], "s0": []}}', "occurs twice"),
        ('{"a": ' + "[" * 100_000 + "}", "nested too deeply"),
    ],
)
def test_a_bad_file_is_one_line(content: str | dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words) as caught:
        read(tmp_path, content)
    assert "\n" not in str(caught.value)
