"""Lossless serialisation of records as msgpack values, for plans and recordings between processes and on disk.

A value has msgpack's types, with three rules: an array is a tuple; a map without ``~`` is a dict; a map with ``~`` is an
object of the named type:

| ``~`` | rest of the map | is |
|---|---|---|
| a record's class name | its fields | that dataclass of ``records`` |
| ``ingredient.class name`` | its fields | that dataclass of an ingredient's plan |
| ``SE3`` | ``quat_wxyz``, ``translation_m`` | rigid transforms |
| ``ndarray`` | ``dtype`` (``<f8``), ``shape``, ``data`` (raw, little-endian, C order) | numpy array |
| ``list`` | ``items`` | list |

A reader refuses unknown and missing fields, so that no version misreads another.
"""

import dataclasses
import re
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import msgpack
import numpy as np

from uavsim.errors import DatasetError, FrameError
from uavsim.files.parse import reading
from uavsim.geometry.lens import Lens
from uavsim.geometry.se3 import SE3
from uavsim.geometry.shutter import Shutter
from uavsim.records import ingredients, motion, plan, recording, sensors
from uavsim.records.plan import ScenePlan
from uavsim.records.typed import misfit
from uavsim.typing import AnyArray

_FORMAT: Final = "uavsim-plan-6"
_KIND: Final = "~"
_FREE_CONTAINERS: Final = 1 << 16
_CONTAINER_BYTES: Final = 16
"""Minimum file size per additional list or map; the densest files of uavsim have 58 bytes."""
_FIELDS: Final[dict[type, tuple[str, ...]]] = {}
_NUMBERS: Final = re.compile("[<>=|]?[biuf][1248]")
_PLAIN: Final = (bool, int, float, str, bytes, type(None))
_RECORDS: Final[dict[str, type]] = {
    name: getattr(module, name)
    for module in (motion, plan, recording, sensors)
    for name in module.__all__
    if dataclasses.is_dataclass(getattr(module, name))
} | {"SE3": SE3, "Lens": Lens, "Shutter": Shutter}


def pack_plan(plan: ScenePlan) -> bytes:
    """Serialise a plan; equal plans give equal bytes."""
    return bytes(msgpack.packb({"format": _FORMAT, "plan": pack_value(plan)}))


def unpack_plan(data: bytes) -> ScenePlan:
    """Deserialise the output of ``pack_plan``.

    Raises:
        DatasetError: the data are no plan of this version.
    """
    with reading("scene plan"):
        return _plan_of(data)


def _plan_of(data: bytes) -> ScenePlan:
    try:
        head = msgpack.unpackb(data, **few_containers(len(data)))
    except (msgpack.UnpackException, ValueError) as error:
        raise DatasetError(f"not a scene plan: {str(error) or type(error).__name__}") from error
    if not isinstance(head, dict) or head.get("format") != _FORMAT:
        raise DatasetError(f"not a scene plan of this version ({_FORMAT}): plan the scene again")
    scene = unpack_value(head.get("plan"))
    if not isinstance(scene, ScenePlan):
        raise DatasetError("not a scene plan but another record")
    return scene


def few_containers(size_bytes: int) -> dict[str, Callable[[Any], Any]]:
    """Return options with which msgpack raises ``ValueError`` for more lists and maps than valid files have.

    An empty list takes one byte in a file and 64 bytes in memory.
    """
    budget = iter(range(_FREE_CONTAINERS + size_bytes // _CONTAINER_BYTES))

    def counted(made: Any) -> Any:
        if next(budget, None) is None:
            raise ValueError(f"more lists and maps than {size_bytes} bytes can hold")
        return made

    return {"object_hook": counted, "list_hook": counted}


def pack_value(value: Any) -> Any:
    """Convert a record, array, tuple, list, dict or plain value to msgpack's types.

    Raises:
        TypeError: the value has another type, or a dict has keys that are no strings.
    """
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, tuple):
        return [pack_value(item) for item in value]
    if isinstance(value, np.ndarray):
        return _pack_array(value)
    if isinstance(value, list):
        return {_KIND: "list", "items": [pack_value(item) for item in value]}
    if isinstance(value, dict):
        return _pack_dict(value)
    return _packed_sensor(value) if isinstance(value, sensors.Sensor) else _pack_record(value)


def _pack_record(value: Any) -> dict[str, Any]:
    record = type(value)
    name = record.__name__ if _RECORDS.get(record.__name__) is record else _name_elsewhere(record)
    if name is None:
        raise TypeError(f"{record.__name__} is not a record")
    return {_KIND: name} | {field: pack_value(getattr(value, field)) for field in _field_names(record)}


_packed_sensor: Final = lru_cache(maxsize=512)(_pack_record)  # all frames of a scene have the same sensors


def _field_names(record: type[Any]) -> tuple[str, ...]:
    if record not in _FIELDS:
        _FIELDS[record] = tuple(field.name for field in dataclasses.fields(record))
    return _FIELDS[record]


def unpack_value(value: Any) -> Any:
    """Invert ``pack_value``; arrays are writable copies.

    Raises:
        DatasetError: the value is invalid, or a record has another version.
    """
    if isinstance(value, (list, tuple)):
        return tuple(unpack_value(item) for item in value)
    if not isinstance(value, dict):
        return value
    if _KIND not in value:
        return {key: unpack_value(item) for key, item in value.items()}
    rest = dict(value)
    kind = rest.pop(_KIND)
    if kind == "ndarray":
        return _unpack_array(rest)
    if kind == "list":
        return [unpack_value(item) for item in rest.get("items", ())]
    return _unpack_record(kind, rest)


def _name_elsewhere(record: type) -> str | None:
    """Return the name of an ingredient's record, or of a plug-in sensor's parameters; None for any other class."""
    return record.__name__ if _params_called(record.__name__) is record else ingredients.record_name(record)


def _params_called(name: str) -> type | None:
    """Return a modality's parameter class by name, or None.

    Raises:
        DatasetError: two packages have parameter classes of this name.
    """
    from uavsim.records.modalities import modalities  # loads entry points

    found = {m.params for m in modalities().values() if m.params.__name__ == name}
    if len(found) > 1:
        raise DatasetError(f"two packages have sensor parameters called {name}; uninstall one")
    return next(iter(found), None)


def _pack_dict(value: dict[Any, Any]) -> dict[str, Any]:
    bad = [key for key in value if not isinstance(key, str) or key == _KIND]
    if bad:
        raise TypeError(f"keys of a dict in a record must be strings other than ~, not {bad[0]!r}")
    return {key: pack_value(item) for key, item in value.items()}


def _pack_array(array: AnyArray) -> dict[str, Any]:
    if array.dtype.kind not in "biuf":
        raise TypeError(f"a record cannot hold an array of {array.dtype}")
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(array.shape)
    return {_KIND: "ndarray", "dtype": little.dtype.str, "shape": list(array.shape), "data": little.tobytes()}


def _unpack_array(rest: dict[str, Any]) -> AnyArray:
    try:
        if not _NUMBERS.fullmatch(rest["dtype"]):  # NumPy accepts other expressions, too
            raise TypeError(f"dtype {str(rest['dtype'])[:40]!a}")
        array = np.frombuffer(rest["data"], dtype=np.dtype(rest["dtype"])).reshape([int(n) for n in rest["shape"]])
    except (KeyError, TypeError, ValueError) as error:
        raise DatasetError(f"not an array: {error}") from error
    return array.astype(array.dtype.newbyteorder("=") if sys.byteorder != "little" else array.dtype)


def _unpack_record(kind: object, rest: dict[str, Any]) -> Any:
    record = _RECORDS.get(str(kind)) or ingredients.record_named(str(kind)) or _params_called(str(kind))
    if record is None:
        raise DatasetError(
            f"unknown record {kind!r}: another version of uavsim wrote it, or a package that is not installed"
        )
    known = _field_names(record)
    if foreign := sorted(rest.keys() - known):
        raise DatasetError(f"{kind} has no field {foreign[0]!r}: did a newer version of uavsim write it?")
    if len(rest) < len(known):
        missing = min(set(known) - rest.keys())
        raise DatasetError(f"{kind} lacks the field {missing!r}: did an older version of uavsim write it?")
    values = {name: unpack_value(item) for name, item in rest.items()}
    if wrong := misfit(record, values):
        raise DatasetError(f"{kind} is damaged: {wrong}")
    try:
        return record(**values)
    except TypeError as error:
        raise DatasetError(f"{kind} holds a value of another type: {error}") from error
    except FrameError as error:
        raise DatasetError(f"{kind} holds an invalid pose: {error}") from error
