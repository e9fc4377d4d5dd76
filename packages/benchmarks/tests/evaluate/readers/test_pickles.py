"""Pickles are data; code in them is refused without execution."""

import io
import os
import pickle
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluate.readers.result_files import BOX
from uavsim.errors import InputError
from uavsim_benchmarks.evaluate.boxes import Boxes
from uavsim_benchmarks.evaluate.nuscenes.detection import CLASSES
from uavsim_benchmarks.evaluate.readers.nuscenes_results import ResultReader
from uavsim_benchmarks.evaluate.readers.pickles import read_pickle


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
    with pytest.raises(InputError, match="refused without executing it"):
        read_pickle(file)
    assert [path.name for path in tmp_path.iterdir()] == ["x.pkl"]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plain_pickles_are_read(protocol: int, tmp_path: Path) -> None:
    file = tmp_path / "x.pkl"
    content = {"a": [1, 2.5, "x", None, True], "b": np.arange(6.0).reshape(2, 3), "c": np.float64(2), "d": (1, {2})}
    file.write_bytes(pickle.dumps(content, protocol=protocol))
    loaded = read_pickle(file)
    np.testing.assert_array_equal(loaded.pop("b"), content.pop("b"))
    assert loaded == content
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"truncated|refused"):
        read_pickle(file)


def types(state: Any, code: str = "f8") -> bytes:
    """Return a pickle of one array with a chosen state of its type."""
    head = b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R(K\x01K\x01\x85cnumpy\ndtype\n"
    state_bytes = pickle.dumps(state, 2)[2:-1]
    name = b"U" + bytes([len(code)]) + code.encode()
    return head + name + b"K\x00K\x01\x87R" + state_bytes + b"b\x89C\x08" + b"\x41" * 8 + b"tb."


def copied(function: bytes, more: bytes, again: bytes) -> bytes:
    """Return a pickle of a list with a thousand copies of a text of 100 kB that the file stores once."""
    kind = b"X" if b"encode" in function else b"B"
    return (
        b"\x80\x04(" + function + b"q\x00"
        + kind + (100_000).to_bytes(4, "little") + b"a" * 100_000 + b"q\x01" + more + again * 1000 + b"l."
    )  # fmt: skip


F8 = (3, "<", None, None, None, -1, -1, 0)
FIELD = {"a": (1, 8)}
ODD: dict[str, bytes] = {
    "an object's flag on numbers": types((3, "|", None, None, None, -1, -1, 63)).replace(b"f8", b"O8"),
    "objects without list": types(F8, "O8"),
    "fields": types((3, "|", None, ("a",), FIELD, 8, 1, 0), "V8"),
    "a field beyond the item": types((3, "|", None, ("a",), {"a": (1, 1 << 40)}, 8, 1, 0), "V8"),
    "a part of another type": types((3, "|", (1, (1 << 30,)), None, None, 8, 1, 0), "V8"),
    "fields of numbers": types((3, "<", None, ("a",), FIELD, -1, -1, 0)),
    "an odd order": types((3, "x", None, None, None, -1, -1, 0)),
    "no state": types(()),
    "a state that is a number": types(7),
    "a name of a type without end": types(F8, "U999999999"),
    "times": types(F8, "M8"),
    "nothing's size": types(F8, "V0"),
    "less data than it says": types(F8).replace(b"K\x01\x85cnumpy\ndtype", b"K\x09\x85cnumpy\ndtype"),
    "a shape beyond memory": types(F8).replace(b"K\x01\x85cnumpy\ndtype", b"J\xff\xff\xff\x7f\x85cnumpy\ndtype"),
    "a shape below zero": types(F8).replace(b"K\x01\x85cnumpy\ndtype", b"J\xff\xff\xff\xff\x85cnumpy\ndtype"),
    "an array without state": b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R.",
    "a state twice": types(F8)[:-1] + b"(K\x01K\x01\x85tb.",
    "bytes of a length": b"\x80\x02cbuiltins\nbytearray\nJ\x00\x00\x00\x40\x85R.",
    "a scalar of objects": b"\x80\x02cnumpy.core.multiarray\nscalar\ncnumpy\ndtype\nU\x02O8K\x00K\x01\x87RC\x08AAAAAAAA\x86R.",
    "bytes beyond the file": b"\x80\x05\x96" + (3 << 30).to_bytes(8, "little") + b".",
    "text beyond the file": b"\x80\x04\x8d" + (1 << 62).to_bytes(8, "little") + b".",
    "a memory of its own": b"\x80\x02Nr\xff\xff\xff\xffj\xff\xff\xff\xfe.",
    "lists of lists of lists": b"\x80\x02]q\x00"
    + b"".join(b"](" + b"h%c" % n * 20 + b"eq%c" % (n + 1) for n in range(60))
    + b".",
    "itself": b"\x80\x02]q\x00(h\x00h\x00e.",
    "copies of copies": b"\x80\x02]" + b"2\x86" * 64 + b".",
    "a text encoded again and again": copied(
        b"c_codecs\nencode\n", b"X\x06\x00\x00\x00latin1q\x02", b"h\x00h\x01h\x02\x86R"
    ),
    "bytes copied again and again": copied(b"cbuiltins\nbytearray\n", b"", b"h\x00h\x01\x85R"),
    "an instruction for code": b"\x80\x02(Vx\nios\nsystem\n.",
    "a persistent id": b"\x80\x02U\x01aQ.",
    "an extension": b"\x80\x02\x82\x01.",
    "an integer without end": b"\x80\x02\x8b" + (1 << 20).to_bytes(4, "little") + b"\x7f" * (1 << 20) + b".",
    "a key of tuples in tuples": b"\x80\x02}N" + b"\x85" * 200_000 + b"Ns.",
    "a set of tuples in tuples": b"\x80\x02cbuiltins\nset\n]N" + b"\x85" * 200_000 + b"a\x85R.",
    "marks": b"\x80\x02" + b"(" * 5000 + b".",
    "two values": b"\x80\x02NN.",
    "none": b"\x80\x02.",
    "nothing": b"",
}


@pytest.mark.parametrize("name", ODD)
def test_what_lies_about_itself_is_refused_and_takes_no_memory(name: str, tmp_path: Path) -> None:
    """Numpy's reconstruction ends the process with signal 11 for most of these, or accepts them."""
    file = tmp_path / "x.pkl"
    file.write_bytes(ODD[name])
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"refused|not a pickle"):
            read_pickle(file)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def test_what_is_empty_in_a_few_bytes_is_bounded_by_the_file(tmp_path: Path) -> None:
    file = tmp_path / "x.pkl"
    file.write_bytes(b"\x80\x04(" + b"\x8f" * 3_000_000 + b"l.")
    with pytest.raises(InputError, match="too many empty containers"):
        read_pickle(file)


ARRAYS = [
    np.zeros((0, 3)), np.arange(12, dtype=">i4").reshape(3, 4), np.array(["a", "long"]), np.array([b"x"]), np.float32(1.5),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.array([True, False]), np.array([1 + 2j]),
    np.array([[1, None], ["x", [2]]], object),
]  # fmt: skip


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("value", ARRAYS, ids=lambda value: f"{value.dtype}{value.shape}")
def test_arrays_come_as_they_were(value: Any, protocol: int, tmp_path: Path) -> None:
    file = tmp_path / "x.pkl"
    file.write_bytes(pickle.dumps({"a": value, "again": [value, value]}, protocol=protocol))
    loaded = read_pickle(file)
    for found in (loaded["a"], *loaded["again"]):
        assert (found.shape, found.dtype) == (value.shape, value.dtype.newbyteorder("="))
        np.testing.assert_array_equal(found, value)


def test_what_stands_in_several_places_is_read(tmp_path: Path) -> None:
    shared, file = [1, [2]], tmp_path / "x.pkl"
    content = {"a": shared, "b": shared, "c": [shared, (shared, 1, 2, 3)]}
    file.write_bytes(pickle.dumps(content))
    assert read_pickle(file) == content


def test_results_in_a_plain_pickle_count_and_mmdet3ds_own_are_refused_with_a_way_out(tmp_path: Path) -> None:
    file = tmp_path / "r.pkl"
    file.write_bytes(pickle.dumps({"results": {"s0": [BOX | {"translation": np.array([1.0, 2.0, 3.0])}]}}))
    reader = ResultReader(file, {"s0": 0}, {"s0": 0}, CLASSES)
    assert len(Boxes.concat(list(reader.blocks()))) == 1
    file.write_bytes(pickle.dumps([{"pred_instances_3d": {}}]))
    with pytest.raises(InputError, match="jsonfile_prefix"):
        list(ResultReader(file, {}, {}, CLASSES).blocks())
