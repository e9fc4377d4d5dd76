"""Buffers that threads which draw keep between images."""

import math
import threading

import numpy as np

from headless_simulator.render.raster import Int64


class Scratch(threading.local):
    """Buffers that a thread keeps between frames."""

    def __init__(self) -> None:
        self._drawn_in = False
        self._arrays: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]] = {}

    def get(self, name: str, shape: tuple[int, ...], kind: type) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
        """Give a buffer of what another image left, or of zeros."""
        size = math.prod(shape)
        flat = self._arrays.get(name)
        if flat is None or flat.size < size:
            flat = self._arrays[name] = np.zeros(max(size, 1), dtype=kind)
        return flat[:size].reshape(shape)

    def empty_keys(self, size: int) -> Int64:
        """Give the z-buffer, to be emptied again by ``resolve``; if an error ended an image before that, a new one."""
        if self._drawn_in:
            del self._arrays["keys"]
        self._drawn_in = True
        return self.get("keys", (size,), np.int64)  # type: ignore[return-value]

    def emptied(self) -> None:
        """Note that no key is left of an image."""
        self._drawn_in = False
