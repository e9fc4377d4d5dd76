"""The application of a Prefect server of our own: Prefect's, with what costs time for nobody turned down."""

from __future__ import annotations

import functools
import gc
from datetime import timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from fastapi import FastAPI

__all__ = ["create_app"]

_LOOK_EVERY: Final = timedelta(seconds=5)


def create_app() -> FastAPI:
    """Make Prefect's application; for ``uvicorn --factory``.

    Importing it makes some hundred thousand objects that stay. The collector would go through them again and again, for a
    fifth of the time that the server takes until it answers. Its worker for jobs in the background looks for some four
    times a second, for as long as the server runs; here every five seconds.
    """
    gc.disable()
    try:
        from prefect.server.api import background_workers

        background_workers.Worker = functools.partial(
            background_workers.Worker, minimum_check_interval=_LOOK_EVERY, scheduling_resolution=_LOOK_EVERY
        )
        from prefect.server.api.server import create_app as create_prefects

        return create_prefects()
    finally:
        gc.freeze()
        gc.enable()
