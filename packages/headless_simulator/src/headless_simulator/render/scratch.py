"""Buffers that a drawing thread reuses for its next image."""

import math
import threading
from typing import Any

import numpy as np


class Scratch(threading.local):
    """Named arrays of the current thread; a larger request replaces an array."""

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]] = {}

    def get(self, name: str, shape: tuple[int, ...], kind: type) -> Any:
        """Return an array of that shape and dtype with unspecified content."""
        size = math.prod(shape)
        flat = self._arrays.get(name)
        if flat is None or flat.size < size:
            flat = self._arrays[name] = np.zeros(max(size, 1), dtype=kind)
        return flat[:size].reshape(shape)

    def take_zeros(self, name: str, size: int, kind: type) -> Any:
        """Return an array of at least ``size`` zeros for exclusive use until ``put_back``."""
        flat = self._arrays.pop(name, None)
        return np.zeros(size, dtype=kind) if flat is None or flat.size < size else flat

    def put_back(self, name: str, zeros: Any) -> None:
        """Store an array, which must be zero again, for the next image."""
        self._arrays[name] = zeros
