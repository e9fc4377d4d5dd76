"""Type hints of arrays are read in the forms of old and new NumPy."""

from dataclasses import make_dataclass
from typing import Any, TypeVar

import numpy as np
import pytest
from typing_extensions import TypeAliasType

from uavsim.records import typed
from uavsim.typing import FloatArray

Number = TypeVar("Number", bound=np.generic)
Array = TypeAliasType("Array", np.ndarray[Any, np.dtype[Number]], type_params=(Number,))  # as NDArray since NumPy 2.5


@pytest.mark.parametrize("hint", [FloatArray, Array[np.float64]])
def test_array_has_numbers_of_its_hint(hint: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if hint is not FloatArray:
        monkeypatch.setattr("numpy.typing.NDArray", Array)
    record = make_dataclass("Record", [("values", hint)])
    assert typed.misfit(record, {"values": np.zeros(3)}) is None
    assert typed.misfit(record, {"values": np.arange(3)}) is None
    for value in (np.array([np.inf]), np.array(["text"]), [0.0]):
        assert (typed.misfit(record, {"values": value}) or "").startswith("values is not")
