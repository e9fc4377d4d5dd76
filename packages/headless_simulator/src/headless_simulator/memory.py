"""Memory settings of this process."""

import ctypes
import gc
from typing import Final

_TRIM_THRESHOLD: Final = -1  # glibc's malloc.h
_MMAP_THRESHOLD: Final = -3
_LARGEST_IMAGE_BYTES: Final = 32 << 20  # the most that glibc takes
_MOST_KEPT_BYTES: Final = 256 << 20
_COLLECT_AFTER: Final = 20_000


def keep_freed_memory() -> None:
    """Let glibc keep what images used for the next ones; where there is another libc, nothing changes.

    Else it goes back to the system, and to be given each page of it anew takes longer than to encode a mask.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _LARGEST_IMAGE_BYTES)
        mallopt(_TRIM_THRESHOLD, _MOST_KEPT_BYTES)


def collect_seldom() -> None:
    """Look for circles of objects after 20,000 new ones, and never among what is there by now.

    A batch of 200 controls makes more than the 700 after which Python looks, while its client waits.
    """
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER)
