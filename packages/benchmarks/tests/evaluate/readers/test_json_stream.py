"""Truncated, endless and binary files: one-line errors and bounded memory."""

import json
from itertools import chain
from pathlib import Path

import pytest

from evaluate.readers.result_files import BOX, read
from uavsim.errors import InputError
from uavsim_benchmarks.evaluate.readers import json_stream
from uavsim_benchmarks.evaluate.readers.json_stream import JsonStream, read_json
from uavsim_benchmarks.evaluate.readers.pickles import read_pickle


@pytest.mark.parametrize("chunk", [1, 7, 4096])
def test_a_file_is_read_in_any_steps(chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "_CHUNK_BYTES", chunk)
    content = {"meta": {"ä": 1}, "results": {"s0": [BOX, BOX], "s1": [], "s2": [BOX]}, "more": -1.5e3}
    boxes = read(tmp_path, json.dumps(content, indent=1, ensure_ascii=False))
    assert boxes.sample.tolist() == [0, 0]
    assert boxes.size_m[0].tolist() == [2.0, 4.0, 1.5]


@pytest.mark.parametrize("size", [1, 40, 1 << 20])
@pytest.mark.parametrize("indent", [None, 1])
def test_an_array_comes_whole_however_its_values_end(
    size: int, indent: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_stream, "_CHUNK_BYTES", size)
    monkeypatch.setattr(json_stream, "_BATCH", size)
    with_lists = [{"n": n, "found": [{"at": [n]}] * (n % 3)} for n in range(50)]
    for content in ([], [1], with_lists, [*with_lists, {"a": {"b": [1]}}, [{"c": []}], "]}, {", {"d": 2}, *with_lists]):
        file = tmp_path / "x.json"
        file.write_text(json.dumps(content, indent=indent) + " \n")
        with JsonStream(file) as stream:
            assert list(chain.from_iterable(stream.batches("it"))) == content
            stream.end()


def test_one_endless_value_is_refused_before_it_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_stream, "_CHUNK_BYTES", 1024)
    monkeypatch.setattr(json_stream, "_LONGEST_VALUE", 4096)
    with pytest.raises(InputError, match="no JSON value of at most 4,096 characters at character"):
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
