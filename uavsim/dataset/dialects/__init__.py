"""Dialects: variants of a dataset's tables; packages add dialects by entry points (``uavsim.dialects``)."""

from typing import Final

from uavsim.dataset.dialects.base import Conversion, Dialect, FileMove, Frames
from uavsim.dataset.dialects.strict import STRICT
from uavsim.dataset.dialects.uav3d.dialect import UAV3D
from uavsim.dataset.reader import DatasetReader
from uavsim.dataset.schema import DATASET_INFO
from uavsim.errors import DatasetError
from uavsim.registry import Registry

__all__ = ["DIALECTS", "STRICT", "Conversion", "Dialect", "FileMove", "Frames", "dialect_of"]

DIALECTS: Final[Registry[Dialect]] = Registry("dialects", {d.name: d for d in (STRICT, UAV3D)}, expects=Dialect)


def dialect_of(reader: DatasetReader) -> Dialect:
    """Return the dialect in the dataset's description, or else the detected one.

    Raises:
        DatasetError: the dialect of the description is not installed.
    """
    reported = reader.info.get("dialect")
    if isinstance(reported, str):
        if reported not in DIALECTS.names():
            known = ", ".join(DIALECTS.names())
            raise DatasetError(f"{reader.folder / DATASET_INFO}: dialect {reported!r} is not installed; known: {known}")
        return DIALECTS.pick(reported)
    others = (DIALECTS.pick(name) for name in DIALECTS.names() if name != STRICT.name)
    return next((dialect for dialect in others if dialect.detect(reader)), STRICT)
