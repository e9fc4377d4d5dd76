"""Translate libcarla's exceptions, which are ``RuntimeError``s. Imports no vendor."""

import contextlib
import errno
import os
from collections.abc import Iterator

from uavsim.errors import SimulatorError, SimulatorLost
from uavsim.files.whole import remedy_of


@contextlib.contextmanager
def translated(doing: str) -> Iterator[None]:
    """Translate libcarla's exceptions; ``doing`` names the action in the message.

    Raises:
        SimulatorLost: a call timed out.
        SimulatorError: any other failure.
    """
    try:
        yield
    except RuntimeError as error:
        text = " ".join(str(error).split())
        kind = SimulatorLost if "time-out" in text or "timeout" in text else SimulatorError
        if os.strerror(errno.EAGAIN) in text:  # libcarla could not start a thread
            text += f"; {remedy_of(OSError(errno.EAGAIN, text))}"
        raise kind(f"CARLA failed while {doing}: {text}") from error
