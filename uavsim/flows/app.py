"""The application of a Prefect server of our own: Prefect's, without work in the background that nobody needs here.

Prefect's worker for jobs in the background looks for some all the time, for a hundredth of a core. A server that is gone with
its run has no such jobs: old runs to delete, leases of runs that died. For a kept one it looks every five seconds.

SQLite refuses, at once, to let a transaction write that has read before another one wrote. Prefect answers 503 then, and its
client waits for two seconds. Transactions that begin as writers wait for each other instead, for milliseconds.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import inspect
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from uavsim.memory import give_back_freed_memory

if TYPE_CHECKING:
    from fastapi import FastAPI
    from sqlalchemy.ext.asyncio import AsyncSession

_LOOK_EVERY: Final = timedelta(seconds=5)


def create_app_of_run() -> FastAPI:
    """Make the application of a server that ends with its run; for ``uvicorn --factory``."""
    with _import_without_collector():
        from prefect.server.api import server

        assert callable(server.background_worker), "what is replaced is there"
        server.background_worker = _no_worker
        _begin_transactions_as_writers()
        return server.create_app()


def create_app_of_account() -> FastAPI:
    """Make the application of a server that is kept; for ``uvicorn --factory``."""
    with _import_without_collector():
        from prefect.server.api import background_workers
        from prefect.server.api.server import create_app

        background_workers.Worker = functools.partial(
            background_workers.Worker, minimum_check_interval=_LOOK_EVERY, scheduling_resolution=_LOOK_EVERY
        )
        _begin_transactions_as_writers()
        return create_app()


def _begin_transactions_as_writers() -> None:
    from prefect.server.database.configurations import AioSqliteConfiguration

    begin = AioSqliteConfiguration.begin_transaction
    assert "with_for_update" in inspect.signature(begin).parameters, "what is replaced is there"

    def begin_as_writer(config: object, session: AsyncSession, **_: bool) -> object:
        return begin(config, session, with_for_update=True)

    AioSqliteConfiguration.begin_transaction = begin_as_writer


@contextlib.contextmanager
def _import_without_collector() -> Iterator[None]:
    """Keep the garbage collector at rest while Prefect is imported.

    It makes some hundred thousand objects that stay. The collector would go through them again and again, for a fifth of the
    time that the server takes until it answers.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.collect()  # once: 9 MB of it do not stay
        give_back_freed_memory()
        gc.freeze()
        gc.enable()


@contextlib.asynccontextmanager
async def _no_worker(*_: object, **__: object) -> AsyncIterator[None]:
    yield
