"""Objects that a pickle of plain data may name, built from checked numbers and bytes.

Neither ``pickle`` nor numpy's reconstruction processes the file, because ``numpy.dtype.__setstate__`` trusts flags and offsets
and then follows pointers of the file. Arrays are built from bytes of the file with a type from a table, so that memory is
bounded by the file's size.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

__all__ = ["NAMES", "Array", "Name", "NotPlain", "as_keys", "built", "called"]

_TYPE: Final = re.compile(r"([<>|=]?)(b1|[iu][1248]|f[248]|c8|c16|[SU]\d{1,6})")
_MOST_DIMENSIONS: Final = 32
_DEEPEST_KEY: Final = 20
"""Limit of tuples within tuples of a key: the hash of deep ones overflows the stack, which ends the process."""


class NotPlain(Exception):
    """The file has content beyond plain data and arrays, or wrong sizes."""


@dataclass(frozen=True, slots=True)
class Name:
    """An allowed name in a pickle."""

    module: str
    name: str


@dataclass(slots=True)
class Type:
    """A numpy type in a pickle; its state adds the byte order. ``O`` holds objects of the file."""

    code: str
    order: str = "="

    def numpy(self) -> np.dtype[Any]:
        return np.dtype((self.order if self.order in "<>" else "") + self.code)


@dataclass(slots=True)
class Array:
    """An array before its state is read, and then its value."""

    value: Any = None


def as_keys(values: list[Any]) -> list[Any]:
    """Return values that can be hashed.

    Raises:
        NotPlain: tuples or sets are nested too deeply in one.
    """
    level: list[Any] = values
    for _ in range(_DEEPEST_KEY):
        level = [each for each in level if isinstance(each, (tuple, frozenset))]
        if not level:
            return values
        level = [inner for each in level for inner in each]
    raise NotPlain("a key has tuples that are nested too deeply")


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("latin1")
    if not isinstance(value, str):
        raise NotPlain("a data type has no name")
    return value


def _dtype(code: Any, *_: Any) -> Type:
    text = _text(code)
    if text in {"O", "O8", "|O"}:
        return Type("O")
    found = _TYPE.fullmatch(text)
    if found is None:
        raise NotPlain(f"arrays of type {text[:40]!r} are not supported")
    return Type(found[2], found[1] or "=")


def _array(data: Any, kind: Any, shape: Any, *, fortran: bool = False) -> Any:
    if not isinstance(kind, Type) or not isinstance(shape, tuple) or len(shape) > _MOST_DIMENSIONS:
        raise NotPlain("an array has no type or shape")
    if not all(type(size) is int and size >= 0 for size in shape):
        raise NotPlain("an array has an invalid shape")
    count = math.prod(shape)
    if kind.code == "O":
        return _of_objects(data, shape, count)
    dtype = kind.numpy()
    if not isinstance(data, (bytes, bytearray)) or dtype.itemsize * count != len(data):
        raise NotPlain("an array's data does not fit its shape")
    if not data:
        return np.zeros(shape, dtype)
    flat = np.frombuffer(data, dtype).astype(dtype.newbyteorder("="))
    return flat.reshape(shape, order="F" if fortran else "C")


def _of_objects(data: Any, shape: tuple[int, ...], count: int) -> Any:
    if not isinstance(data, list) or len(data) != count:
        raise NotPlain("an object array's data does not fit its shape")
    flat = np.empty(count, dtype=object)
    flat[:] = data
    return flat.reshape(shape)


def _scalar(kind: Any, data: Any = None) -> Any:
    if isinstance(data, str):
        data = data.encode("latin1")
    return _array(data, kind, (1,))[0]


def _from_buffer(data: Any, kind: Any, shape: Any, order: Any) -> Any:
    return _array(data, kind, shape, fortran=order == "F")


def _reconstruct(*_: Any) -> Array:
    return Array()


def _encoded(text: Any, encoding: Any) -> bytes:
    if not isinstance(text, str) or encoding != "latin1":
        raise NotPlain(f"encoding {encoding!r} is not supported")
    return text.encode("latin1")


def _bytes_of(*arguments: Any) -> bytearray:
    """Return bytes of text or bytes, never of a length: ``bytearray(3 << 30)`` is a few bytes of a file and 3 GB of memory."""
    if not arguments:
        return bytearray()
    if isinstance(arguments[0], str) and arguments[1:] == ("latin-1",):
        return bytearray(arguments[0].encode("latin1"))
    if not isinstance(arguments[0], (bytes, bytearray)) or arguments[1:]:
        raise NotPlain("a bytearray is not made from bytes")
    return bytearray(arguments[0])


def _set_of(kind: Callable[[list[Any]], Any], *arguments: Any) -> Any:
    if len(arguments) > 1 or (arguments and not isinstance(arguments[0], (list, tuple, set, frozenset))):
        raise NotPlain("a set is not made from a list")
    return kind(as_keys(list(arguments[0])) if arguments else [])


def _pairs(*arguments: Any) -> dict[Any, Any]:
    if arguments and arguments != ([],):
        raise NotPlain("an OrderedDict has arguments")
    return {}


def _complex(real: Any, imaginary: Any) -> complex:
    if not isinstance(real, (int, float)) or not isinstance(imaginary, (int, float)):
        raise NotPlain("a complex number has a part that is not a number")
    return complex(real, imaginary)


_NDARRAY: Final = Name("numpy", "ndarray")
_CALLS: Final[dict[Name, Callable[..., Any]]] = {
    Name("numpy", "dtype"): _dtype,
    **{Name(f"numpy.{core}.multiarray", "_reconstruct"): _reconstruct for core in ("core", "_core")},
    **{Name(f"numpy.{core}.multiarray", "scalar"): _scalar for core in ("core", "_core")},
    **{Name(f"numpy.{core}.numeric", "_frombuffer"): _from_buffer for core in ("core", "_core")},
    Name("collections", "OrderedDict"): _pairs,
    Name("_codecs", "encode"): _encoded,
    **{Name(module, "set"): lambda *arguments: _set_of(set, *arguments) for module in ("__builtin__", "builtins")},
    Name("builtins", "frozenset"): lambda *arguments: _set_of(frozenset, *arguments),
    Name("builtins", "complex"): _complex,
    Name("__builtin__", "complex"): _complex,
    Name("__builtin__", "bytes"): lambda: b"",  # the oldest protocols write empty values so
    Name("builtins", "bytearray"): _bytes_of,
    Name("__builtin__", "bytearray"): _bytes_of,
}
NAMES: Final = frozenset({_NDARRAY, *_CALLS})


def called(name: Any, arguments: Any) -> Any:
    """Return the result of a named function of a pickle for its arguments.

    Raises:
        NotPlain: the function or its arguments are not allowed.
    """
    call = _CALLS.get(name) if isinstance(name, Name) else None
    if call is None or not isinstance(arguments, tuple):
        raise NotPlain("it calls a function that is not allowed")
    try:
        return call(*arguments)
    except (TypeError, ValueError, UnicodeError) as error:
        raise NotPlain(f"a call has invalid arguments ({type(error).__name__})") from error


def built(target: Any, state: Any) -> Any:
    """Return an object with its state applied.

    Raises:
        NotPlain: the object is neither an array nor a type, or numpy does not write such a state.
    """
    if isinstance(target, Type) and isinstance(state, tuple) and len(state) >= 5:
        order = _text(state[1])
        if order not in {"<", ">", "|", "="} or any(part is not None for part in state[2:5]):
            raise NotPlain("a data type has fields or subarrays")
        target.order = order
        return target
    if isinstance(target, Array) and target.value is None and isinstance(state, tuple) and len(state) == 5:
        data = state[4].encode("latin1") if isinstance(state[4], str) else state[4]
        target.value = _array(data, state[2], state[1], fortran=bool(state[3]))
        return target.value
    raise NotPlain("an object restores its own state")
