"""Checks of deserialised values against the type hints of records."""

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, Literal, TypeAlias, Union

import numpy as np
import numpy.typing as npt

Fits: TypeAlias = Callable[[Any], bool]
_KINDS: Final = {np.float64: "fiu", np.float32: "f", np.int64: "iu", np.bool_: "b", np.uint8: "u", np.uint16: "u"}
_MOST: Final = 1 << 63


def misfit(record: type, values: Mapping[str, Any]) -> str | None:
    """Return the first field that violates its type hint, with the hint; None if all are valid."""
    for name, (fits, hint) in _fields(record).items():
        if name in values and not fits(values[name]):
            return f"{name} is not {hint}"
    return None


@cache
def _fields(record: type) -> dict[str, tuple[Fits, str]]:
    hints = typing.get_type_hints(record)
    return {
        field.name: (_fits(hints[field.name]), str(field.type).removeprefix("typing."))
        for field in dataclasses.fields(record)
    }


@cache
def _fits(hint: Any) -> Fits:
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        options = [_fits(option) for option in inside]
        return lambda value: any(fits(value) for fits in options)
    if origin is Literal:
        return lambda value: type(value) in {str, int} and value in inside
    if origin is tuple:
        return _fits_tuple(inside)
    if origin is np.ndarray or origin is npt.NDArray:  # the latter since NumPy 2.5, of the number itself
        return _fits_array((typing.get_args(inside[-1]) or inside)[0])
    if isinstance(origin, type) and issubclass(origin, Mapping):
        fits_key, fits_value = map(_fits, inside)
        return lambda value: isinstance(value, dict) and all(fits_key(k) and fits_value(v) for k, v in value.items())
    return _fits_plain(hint)


def _fits_tuple(inside: tuple[Any, ...]) -> Fits:
    each = [_fits(item) for item in inside if item is not Ellipsis]
    if Ellipsis in inside:
        return lambda value: isinstance(value, tuple) and all(map(each[0], value))
    return lambda value: (
        isinstance(value, tuple) and len(value) == len(each) and all(f(v) for f, v in zip(each, value, strict=True))
    )


def _fits_array(number: Any) -> Fits:
    kinds = _KINDS.get(number, "biuf")
    return lambda value: (
        isinstance(value, np.ndarray)
        and value.dtype.kind in kinds
        and not (value.dtype.kind == "f" and np.isinf(value).any())
    )


def _fits_plain(hint: Any) -> Fits:
    if hint is int:
        return lambda value: type(value) is int and -_MOST <= value < _MOST
    if hint is float:  # NaN means "none"; infinity is invalid
        return lambda value: type(value) in {int, float} and (math.isnan(value) or abs(value) < _MOST)
    if hint in (str, bool, bytes, type(None)):
        return lambda value: type(value) is hint
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return lambda value: isinstance(value, hint)
    if getattr(hint, "_is_protocol", False):  # parameters of a sensor
        return dataclasses.is_dataclass
    return lambda _: True
