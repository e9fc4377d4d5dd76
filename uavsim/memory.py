"""Give freed memory of this process back to the system."""


def give_back_freed_memory() -> None:
    """Give back the freed memory that glibc keeps: the peak of a scene, for example."""
    import ctypes  # a command that prints its help needs none

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
