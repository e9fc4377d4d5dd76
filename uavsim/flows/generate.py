"""``uavsim generate``: check, bring up simulators and Prefect side by side, run the job, say how it went."""

import importlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Final

from uavsim.environment import keep_local_direct, open_file_limit
from uavsim.errors import SystemFailure, UavsimError
from uavsim.flows import client, server
from uavsim.flows.account import account_address
from uavsim.on_top import ON_TOP
from uavsim.run.context import opened, prepared, refuse_foreign_servers
from uavsim.run.executor import execute, is_short
from uavsim.run.finish import assemble_tables
from uavsim.run.request import Request
from uavsim.run.result import Result, Summary
from uavsim.run.stages import RunContext
from uavsim.run.threads import Threads
from uavsim.store.commit import committed_bytes
from uavsim.store.journal import redact
from uavsim.terminal import Screen, count, counts, line

__all__ = ["generate"]

_CONSOLE_LEVEL: Final = "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL"


def generate(request: Request, *, console: Screen) -> Result:
    """Do the main job.

    Args:
        request: what to make.
        console: shows people the progress.

    Raises:
        InputError: before anything is started or written.
        SystemFailure: simulators, storage or Prefect failed; what is committed stays.
    """
    began = time.monotonic()
    keep_local_direct()
    open_file_limit()
    ready = prepared(request, ON_TOP)  # before Prefect is imported: a typing error is reported in a third of the time
    named = client.configured_api_url()
    os.environ.setdefault(_CONSOLE_LEVEL, "CRITICAL")  # before Prefect is imported: the run shows its progress itself
    job = ready.job
    each = counts(sample=job.samples, image=job.images_per_scene)
    what = f" {', '.join(job.towns)}: {count(len(job.scenes), 'scene')} x {each} each, seed {job.seed}"
    console.print(line(("bold", job.dataset), what))
    with ExitStack() as stack:
        stack.enter_context(_sigterm_as_interrupt())
        refuse_foreign_servers(ready)
        if named is not None and ready.to_fly:
            client.check_api(named)
        opening = time.monotonic()
        kept = account_address() if named is None and ready.to_fly else None
        if not ready.to_fly or (named is None and kept is None and is_short(request.run_config(), len(ready.to_fly))):
            context = stack.enter_context(opened(ready, console=console))
            summary = execute(context, Threads(context))
        else:
            own = stack.enter_context(server.OwnServer()) if named is None and kept is None else None
            _begin(
                partial(importlib.import_module, "uavsim.flows.dataset")
            )  # with it Prefect, for seconds: the simulators start meanwhile
            context = stack.enter_context(opened(ready, console=console))
            address = own.wait() if own is not None else kept
            stack.enter_context(_shown(address, console) if address is not None else client.use_api(named or ""))
            summary = _through_prefect(context)
        if context.failure is not None:
            raise context.failure
        simulator_s = ((context.pool.closed_s or time.monotonic()) - opening) * len(context.pool.slots)
    return Result.of(
        summary,
        there=context.there,
        address=context.output.address,
        seconds=time.monotonic() - began,
        simulator_s=simulator_s,
        size_bytes=sum(committed_bytes(context.output, name) for name in summary.named("committed")),
    )


def _shown(address: server.Address, console: Screen) -> AbstractContextManager[None]:
    """Say where the run can be looked at, and point Prefect's client there."""
    key = address.key if console.is_terminal else f"in {address.key_file}"  # a log may be read by others
    console.print(line("in a browser: ", ("bold", address.url), f" (key {key})"))
    return client.use_api(address.api, key=address.key)


def _through_prefect(context: RunContext) -> Summary:
    """Run the flow; when Prefect fails under it, what is committed still gets its tables.

    Raises:
        UavsimError: what ended the run.
    """
    from uavsim.flows.dataset import generate_opened

    try:
        return generate_opened(context)
    except UavsimError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None and context.failure is None:
            raise
        assemble_tables(context.output)
        if context.failure is not None:
            raise context.failure from error
        said = redact(" ".join(str(error).split()))[:200]
        raise SystemFailure(
            f"Prefect failed ({type(error).__name__}: {said}); the tables hold what is committed; run the same command again"
        ) from error


def _begin(work: Callable[[], object]) -> None:
    """Import or read in a thread of its own; who needs it does so again, and waits or sees the error there."""

    def begun() -> None:
        with suppress(Exception):
            work()

    threading.Thread(target=begun, name="ahead", daemon=True).start()


@contextmanager
def _sigterm_as_interrupt() -> Iterator[None]:
    """Let SIGTERM end the run as Ctrl-C does: simulators and client processes are ended, nothing half-written stays."""
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    ):
        yield  # somebody else's thread, or the command line, which takes the signals itself
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
