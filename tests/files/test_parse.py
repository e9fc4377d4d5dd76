"""Files of others: what is wrong with them is one line, and only regular files are read."""

import json
import os

import pytest

from uavsim.errors import DatasetError, FrameError, InputError
from uavsim.files.parse import open_regular, parse_json, read_regular, reading


@pytest.mark.parametrize("text", ["", "{", "[1,]", "[" * 100_000, '{"a": ' + "9" * 5000 + "}", b"\xff\xfe\xfd"])
def test_what_is_no_json_is_one_short_value_error(text):
    with pytest.raises(ValueError, match=r"\w") as wrong:
        parse_json(text)
    assert len(str(wrong.value)) <= 120
    assert "\n" not in str(wrong.value)


@pytest.mark.parametrize(
    "text",
    ['{"a": [1, -0, 1e5, 0.1, true, null], "a b": "\\u00e9"}', "NaN", '"\\ud800"', "18446744073709551615", "1e400"],
)
def test_a_row_is_what_json_says_it_is(text):
    assert repr(parse_json(text.encode())) == repr(json.loads(text))


def test_a_file_of_a_known_size_is_read_and_a_larger_one_is_not(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    assert read_regular(tmp_path / "a", most_bytes=5) == b"12345"
    with pytest.raises(DatasetError, match="larger than any that we write"):
        open_regular(tmp_path / "a", most_bytes=4)


def test_a_fifo_does_not_make_anybody_wait(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", tmp_path, tmp_path / "gone"):
        with pytest.raises(DatasetError, match=path.name):
            read_regular(path)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (KeyError("token"), "damaged, or of another form .KeyError: "),
        (TypeError("a\nb"), "TypeError: 'a b'"),
        (RecursionError("deep"), "RecursionError"),
        (FrameError("not a rotation"), "the set: not a rotation; run uavsim validate on the dataset"),
    ],
)
def test_what_breaks_while_data_is_taken_apart_is_the_datas_fault(error, words):
    with pytest.raises(DatasetError, match=f"{words}.*"), reading("the set"):
        raise error


def test_our_own_errors_and_mistakes_pass():
    with pytest.raises(InputError, match="as it is"), reading("the set"):
        raise InputError("as it is")
    with pytest.raises(AssertionError), reading("the set"):
        raise AssertionError
