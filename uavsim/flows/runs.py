"""An open run; it calls its flows and tasks through Prefect or as plain functions.

A run that loses its Prefect server continues without it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any, Final, Generic, ParamSpec, TypeVar, cast

import httpx
from prefect.client.orchestration import get_client
from prefect.concurrency.asyncio import ConcurrencySlotAcquisitionError
from prefect.concurrency.sync import concurrency
from prefect.exceptions import ObjectAlreadyExists, PrefectException
from prefect.flows import Flow
from prefect.settings import (
    PREFECT_API_REQUEST_TIMEOUT,
    PREFECT_API_URL,
    PREFECT_CLIENT_MAX_RETRIES,
    PREFECT_LOGGING_TO_API_ENABLED,
    temporary_settings,
)
from prefect.tasks import Task

from uavsim.flows.server import is_healthy
from uavsim.on_top import ON_TOP
from uavsim.run.context import opened, prepared
from uavsim.run.request import Request
from uavsim.run.result import Summary
from uavsim.run.stages import RunContext
from uavsim.run.town_scenes import may_retry
from uavsim.run.worker import of_worker
from uavsim.supervise.simulator_slot import NoSlotLeft, SimulatorSlot
from uavsim.terminal import line

__all__ = ["Run", "current_run", "in_run", "run_of"]

P = ParamSpec("P")
T = TypeVar("T")
_CURRENT: Final[ContextVar[Run | None]] = ContextVar("run", default=None)
_POLL_S: Final = 0.1
_ANSWER_S: Final = 5.0  # a busy machine is slow to answer
_INTERRUPTED_S: Final = 1.0
_QUICK: Final[dict[Any, Any]] = {
    PREFECT_API_REQUEST_TIMEOUT: 1.0,
    PREFECT_CLIENT_MAX_RETRIES: 0,
    PREFECT_LOGGING_TO_API_ENABLED: False,
}
"""Prefect settings after the server is lost: further reports fail quickly."""
_SETTINGS: Final[ContextVar[contextlib.ExitStack]] = ContextVar("settings")
_REPORT_S: Final = 4.0  # below ten seconds together with the five of an exit (cli/stop.py)
_LEASE_S: Final = 120.0


class Submitted(Generic[T]):
    """A submitted task.

    Args:
        future: future of the task's thread.
    """

    def __init__(self, future: Future[T]) -> None:
        self._future = future

    def wait(self) -> T | BaseException:
        """Wait for the task's end; return its result or the error of its last attempt."""
        while not self._future.done():
            wait((self._future,), timeout=_POLL_S)  # without a timeout, a signal is only seen when the wait ends
        return self._future.exception() or self._future.result()


class Run:
    """An open run.

    Args:
        context: simulators, scenes and output of the run.
        has_server: report flows and tasks to the Prefect server of the current settings.

    Attributes:
        summary: the result of ``generate_dataset``, once it is known.
    """

    def __init__(self, context: RunContext, *, has_server: bool) -> None:
        self.context = context
        self.has_server = self._had_server = has_server
        self.summary: Summary | None = None
        self._threads = ThreadPoolExecutor(context.workers, thread_name_prefix="scene")
        self._outside = copy_context()
        context.gate = self._one_at_a_time

    @contextlib.contextmanager
    def current(self) -> Iterator[Run]:
        """Make this the run of all flows and tasks called in the block."""
        with self._threads:
            token = _CURRENT.set(self)
            try:
                yield self
            finally:
                _CURRENT.reset(token)

    def request_of_town(self, town: str) -> Request:
        """Return the run's request for one town, without the run's configuration: a shared server may show it to others."""
        return self.context.request.model_copy(update={"towns": (town,), "run": None})

    def complete(self, flow: Flow[Any, Summary], request: Request) -> Summary:
        """Call the outermost flow in its own thread, so that neither an interrupt nor the exit waits for the server."""
        with thread_settings():
            return self._in_thread(flow, request) if self.has_server else flow.fn(request)

    def _in_thread(self, flow: Flow[Any, Summary], request: Request) -> Summary:
        future: Future[Summary] = Future()

        def settle() -> None:
            with thread_settings():
                try:
                    future.set_result(self.call(flow, request))
                except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits for the future
                    future.set_exception(error)

        threading.Thread(target=copy_context().run, args=(settle,), daemon=True).start()
        try:
            while not future.done() and self.summary is None:
                wait((future,), timeout=_POLL_S)
            wait((future,), timeout=_REPORT_S)
            if self.summary is None or future.done():
                return future.result()
            self._lose_server("it does not answer")
            return self.summary
        except BaseException:
            self.give_up()
            if self._server_answers():  # let the server record the interrupt
                wait((future,), timeout=_REPORT_S)
            raise

    def call(self, part: Flow[Any, T] | Task[Any, T], *arguments: Any) -> T:
        """Call a flow or a task."""
        if self._server_answers():
            try:
                return part(*arguments)
            except httpx.HTTPError as error:
                self._lose_server(str(error))
                if self.summary is not None:  # the run has ended; only its report failed
                    return cast("T", self.summary)
        return part.fn(*arguments)

    def submit(self, part: Task[P, T], *_: P.args, **arguments: P.kwargs) -> Submitted[T]:
        """Start a task in a thread."""
        attempts = partial(part, **arguments) if self.has_server else partial(self._attempts, part, arguments)
        return Submitted(self._threads.submit(copy_context().run, attempts))

    def show(self, artifact: Callable[..., T], *arguments: Any) -> T | None:
        """Make or update an artifact; do nothing without a server."""
        if self._server_answers():
            try:
                return artifact(*arguments)
            except httpx.HTTPError as error:
                self._lose_server(str(error))
        return None

    def give_up(self) -> None:
        """End the scenes in flight at once, because the run is interrupted."""
        self.context.abort(None)
        self.context.pool.interrupt()
        self.context.output.give_up()

    def _attempts(self, part: Task[Any, T], arguments: dict[str, Any]) -> T:
        """Call a task's function as often as its options allow, as Prefect does."""
        for k in range(part.retries):
            try:
                return part.fn(**arguments)
            except Exception as error:
                if not may_retry(error):
                    raise
            self.context.wait_for_end(part.retry_delay_seconds[k])
        return part.fn(**arguments)

    def _server_answers(self) -> bool:
        """Return whether the server answers; Prefect's own client would retry for a minute."""
        patience_s = _INTERRUPTED_S if self.context.stopped else _ANSWER_S
        if self.has_server and is_healthy(PREFECT_API_URL.value() or "", timeout_s=patience_s):
            return True
        self._lose_server("it does not answer")
        return False

    def _lose_server(self, reason: str) -> None:
        """Print once that the run continues without its server; further reports of this thread fail quickly."""
        if self.has_server:
            self.has_server = False
            said = f": the server does not answer ({' '.join(reason.split())[:100]}); the run continues without it"
            self.context.progress.say(line(("yellow", "Prefect"), said))
        if self._had_server:
            _SETTINGS.get().enter_context(temporary_settings(updates=_QUICK))

    @contextlib.contextmanager
    def _one_at_a_time(self, slot: SimulatorSlot) -> Iterator[None]:
        """Hold the simulator's global concurrency limit while a scene flies: two runs may name the same simulator.

        Simulators that the run starts itself need no limit. The limit of a run that dies is released when its lease ends.

        Raises:
            NoSlotLeft: the server refuses the limit, without which two runs could fly on one simulator.
        """
        if slot.simulator.is_ours or not self.has_server or not is_healthy(PREFECT_API_URL.value() or ""):
            yield
            return
        name, acquired, flown = f"simulator {slot.simulator.address}", Future[None](), threading.Event()
        hold = partial(_hold_limit, name, acquired, flown)
        holder = threading.Thread(target=self._outside.copy().run, args=(hold,), daemon=True)
        holder.start()
        while not acquired.done() and not self.context.stopped:
            wait((acquired,), timeout=_POLL_S)
        if acquired.done() and (error := acquired.exception()) is not None:
            reason = " ".join(str(error).split())[:300]
            raise NoSlotLeft(
                f"the Prefect server refuses the concurrency limit {name!r}, which keeps other runs off this simulator: "
                f"{reason}; let this account make and take concurrency limits there, or unset PREFECT_API_URL"
            ) from error
        try:
            yield
        finally:
            flown.set()
            holder.join(_INTERRUPTED_S)


def _hold_limit(name: str, acquired: Future[None], flown: threading.Event) -> None:
    """Hold a global concurrency limit while a scene flies.

    Args:
        name: name of the limit.
        acquired: gets the result None when the scene may fly (the limit is held, or the server is gone), or the server's
            error.
        flown: set when the limit may be released; the scene does not wait for the release or a lost server.
    """
    try:
        with get_client(sync_client=True) as client, contextlib.suppress(ObjectAlreadyExists):
            client.upsert_global_concurrency_limit_by_name(name, 1)  # another scene's thread may have made it meanwhile
        with concurrency(name, lease_duration=_LEASE_S, strict=True, raise_on_lease_renewal_failure=False):
            acquired.set_result(None)
            flown.wait()
    except (httpx.HTTPError, ConcurrencySlotAcquisitionError, PrefectException) as error:
        if acquired.done():
            return
        if any(isinstance(cause, httpx.RequestError) for cause in (error, error.__cause__)):
            acquired.set_result(None)  # the server is gone, which the flow's own thread reports
        else:
            acquired.set_exception(error)
    except Exception as error:
        if acquired.done():
            raise
        acquired.set_exception(error)  # the scene would wait forever for a result that does not come


@contextlib.contextmanager
def thread_settings() -> Iterator[None]:
    """Allow changes of Prefect's settings in this thread until its outermost flow ends."""
    with contextlib.ExitStack() as stack:
        token = _SETTINGS.set(stack)
        try:
            yield
        finally:
            _SETTINGS.reset(token)


def in_run() -> bool:
    """Return whether the caller runs inside a run."""
    return _CURRENT.get() is not None


def current_run() -> Run:
    """Return the run of the calling task."""
    run = _CURRENT.get()
    assert run is not None, "tasks are called within a run"
    return run


@contextlib.contextmanager
def run_of(request: Request) -> Iterator[Run]:
    """Yield the current run; open one for a flow called by a worker."""
    with contextlib.ExitStack() as stack:
        run = _CURRENT.get()
        if run is None:
            context = stack.enter_context(opened(prepared(of_worker(request), ON_TOP)))
            run = stack.enter_context(Run(context, has_server=True).current())
            stack.enter_context(thread_settings())
        try:
            yield run
        except BaseException:
            run.give_up()
            raise
