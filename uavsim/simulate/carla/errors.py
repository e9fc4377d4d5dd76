"""Turn libcarla's exceptions into ours where they enter. Imports no vendor: they are ``RuntimeError``s."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from uavsim.errors import SimulatorError, SimulatorLost

__all__ = ["translated"]


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
        raise kind(f"CARLA failed while {doing}: {text}") from error
