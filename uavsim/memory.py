"""Memory of this process, taken and given back: by glibc, where it is that, and by Python's collector."""

import gc
from typing import Final

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # glibc's malloc.h
_KEPT_BYTES: Final = 256 << 20
_FROM_THE_SYSTEM_BYTES: Final = 32 << 20  # the most that glibc takes
_POOLS: Final = 2
_COLLECT_AFTER: Final = 50_000


def keep_freed_memory() -> None:
    """Let the next image take the last one's memory: fresh pages cost as much time as inflating an image does."""
    _adjust(_TRIM_THRESHOLD, _KEPT_BYTES)
    _adjust(_MMAP_THRESHOLD, _FROM_THE_SYSTEM_BYTES)


def keep_few_pools() -> None:
    """Let threads share two pools of memory: glibc gives each its own, and keeps what was freed in them; before they start."""
    _adjust(_ARENA_MAX, _POOLS)


def collect_seldom() -> None:
    """Look for circles of objects after 50,000 new ones: by default it is 700, a tenth of the time where rows are made.

    For processes that are ours alone.
    """
    gc.set_threshold(_COLLECT_AFTER)


def give_back_freed_memory() -> None:
    """Let the system have what glibc keeps of freed memory: after a scene, whose peak the next one may not have at once."""
    import ctypes

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _adjust(parameter: int, value: int) -> None:
    import ctypes  # a command that prints its help needs none

    adjust = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none, and other ways
    if adjust is not None:
        adjust(parameter, value)
