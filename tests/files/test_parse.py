"""Foreign files: errors are one line, and only regular files are read."""

import json
import os

import pytest

from uavsim.errors import DatasetError, FrameError, InputError
from uavsim.files.parse import open_regular, parse_json, read_regular, reading


@pytest.mark.parametrize("text", ["", "{", "[1,]", "[" * 100_000, '{"a": ' + "9" * 5000 + "}", b"\xff\xfe\xfd"])
def test_invalid_json_is_one_short_value_error(text):
    with pytest.raises(ValueError, match=r"\w") as wrong:
        parse_json(text)
    assert len(str(wrong.value)) <= 120
    assert "\n" not in str(wrong.value)


@pytest.mark.parametrize(
    "text",
    ['{"a": [1, -0, 1e5, 0.1, true, null], "a b": "\\u00e9"}', "NaN", '"\\ud800"', "18446744073709551615", "1e400"],
)
def test_values_equal_those_of_json(text):
    assert repr(parse_json(text.encode())) == repr(json.loads(text))


def test_size_limit(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    assert read_regular(tmp_path / "a", most_bytes=5) == b"12345"
    with pytest.raises(DatasetError, match="is larger than"):
        open_regular(tmp_path / "a", most_bytes=4)


def test_fifo_folder_and_missing_file_are_refused(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", tmp_path, tmp_path / "gone"):
        with pytest.raises(DatasetError, match=path.name):
            read_regular(path)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            KeyError("token"),
            r"damaged or in another format .KeyError: .*, at (test_)?parse\.py:\d+.*report a bug in uavsim",
        ),
        (TypeError("a\nb"), "TypeError: 'a b'"),
        (RecursionError("deep"), "RecursionError"),
        (FrameError("not a rotation"), "the set: not a rotation; run uavsim validate on the dataset"),
    ],
)
def test_exceptions_while_reading_become_dataset_errors(error, words):
    with pytest.raises(DatasetError, match=f"{words}.*") as caught, reading("the set"):
        raise error
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("error", [InputError("as it is"), AssertionError("impossible"), NotImplementedError("later")])
def test_uavsim_errors_and_program_errors_pass(error):
    with pytest.raises(type(error), match=f"^{error}$"), reading("the set"):
        raise error
