"""The application of a run's private server: Prefect's own, imported with the garbage collector at rest."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import FastAPI

__all__ = ["create_app"]


def create_app() -> FastAPI:
    """Make Prefect's application; for ``uvicorn --factory``.

    Importing it makes some hundred thousand objects that stay. The collector would go through them again and again, for a
    fifth of the time that the server takes until it answers.
    """
    gc.disable()
    try:
        from prefect.server.api.server import create_app as create_prefects

        return create_prefects()
    finally:
        gc.freeze()
        gc.enable()
