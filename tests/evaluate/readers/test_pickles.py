"""Pickles are data, and what asks for code is refused unrun."""

from __future__ import annotations

import io
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from uavsim.errors import InputError
from uavsim.evaluate.boxes import Boxes
from uavsim.evaluate.nuscenes_detection import CLASSES
from uavsim.evaluate.readers.nuscenes_results import ResultReader
from uavsim.evaluate.readers.pickles import read_pickle

BOX: dict[str, Any] = {
    "sample_token": "s0", "translation": [1.0, 2.0, 3.0], "size": [2.0, 4.0, 1.5], "rotation": [1.0, 0.0, 0.0, 0.0],
    "velocity": [0.0, 0.0], "detection_name": "car", "detection_score": 0.5, "attribute_name": "",
}  # fmt: skip


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
    reported = read_pickle(file)
    np.testing.assert_array_equal(reported.pop("b"), content.pop("b"))
    assert reported == content
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
