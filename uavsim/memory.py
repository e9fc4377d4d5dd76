"""Freed memory of this process, given back to the system."""


def give_back_freed_memory() -> None:
    """Let the system have what glibc keeps of freed memory: after a scene, whose peak the next one may not have at once."""
    import ctypes  # a command that prints its help needs none

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
