"""Return freed memory of this process to the operating system."""


def give_back_freed_memory() -> None:
    """Return glibc's freed memory, such as the peak of a scene, to the operating system."""
    import ctypes  # a command that prints its help needs none

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
