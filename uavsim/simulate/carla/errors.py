"""Turn libcarla's exceptions into ours where they enter. Imports no vendor: they are ``RuntimeError``s."""

import contextlib
import errno
import os
from collections.abc import Iterator

from uavsim.errors import SimulatorError, SimulatorLost
from uavsim.files.whole import remedy_of


@contextlib.contextmanager
def translated(doing: str) -> Iterator[None]:
    """Turn libcarla's exceptions into ours, with what was tried.

    Raises:
        SimulatorLost: a call of its took too long.
        SimulatorError: anything else.
    """
    try:
        yield
    except RuntimeError as error:
        text = " ".join(str(error).split())
        kind = SimulatorLost if "time-out" in text or "timeout" in text else SimulatorError
        if os.strerror(errno.EAGAIN) in text:  # libcarla, too, starts threads
            text += f"; {remedy_of(OSError(errno.EAGAIN, text))}"
        raise kind(f"CARLA failed while {doing}: {text}") from error
