"""Confidence maps of a communication graph."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from uavsim.errors import InputError
from uavsim_benchmarks.evaluate.readers import confidence_maps
from uavsim_benchmarks.evaluate.readers.confidence_maps import read_confidence_maps


def test_confidence_maps(tmp_path: Path) -> None:
    file = tmp_path / "maps.npz"
    np.savez(file, a=np.full((2, 3, 4), 0.5), b=np.zeros((3, 3, 4)))
    assert [cells.shape for cells in read_confidence_maps(file)] == [(2, 3, 4), (3, 3, 4)]
    for content, words in (
        ({"a": np.full((2, 3, 4), 1.5)}, "between 0 and 1"),
        ({"a": np.zeros((3, 4))}, "of one size"),
        ({"a": np.array([object()])}, "not an .npz file of numbers"),
        ({}, "holds no arrays"),
    ):
        np.savez(file, **content)
        with pytest.raises(InputError, match=words):
            read_confidence_maps(file)
    file.write_bytes(b"PK\x03\x04")
    with pytest.raises(InputError, match=r"not an \.npz file"):
        read_confidence_maps(file)


def test_a_reason_that_quotes_the_file_at_length_is_cut_at_a_word(tmp_path: Path) -> None:
    file = tmp_path / "maps.npz"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a" * 120, b"")
    file.write_bytes(file.read_bytes().replace(b"a" * 120, b":" * 120, 1))  # in the header, not in the directory
    with pytest.raises(InputError, match=r"File name in directory \.\.\.$"):
        read_confidence_maps(file)


def test_numbers_of_a_byte_are_counted_before_they_become_eight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confidence_maps, "MAX_FILE_BYTES", 8000)
    cells = np.zeros((1, 10, 90), np.uint8)
    np.savez_compressed(tmp_path / "maps.npz", a=cells, b=cells, c=cells)
    with pytest.raises(InputError, match="more than 2000 numbers"):
        read_confidence_maps(tmp_path / "maps.npz")
