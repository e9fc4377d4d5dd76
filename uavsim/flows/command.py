"""``uavsim generate``: check the request, start the simulators, run ``generate_dataset`` with or without Prefect."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from types import FrameType

from uavsim.environment import keep_local_direct, open_file_limit
from uavsim.flows.server import account_address, check_api, configured_api_url, use_api
from uavsim.on_top import ON_TOP
from uavsim.run.context import Prepared, opened, prepared, refuse_foreign_servers
from uavsim.run.request import Request
from uavsim.run.result import Result
from uavsim.store.commit import committed_bytes
from uavsim.terminal import Screen, count, counts, line

__all__ = ["generate"]


def generate(request: Request, *, console: Screen) -> Result:
    """Run ``uavsim generate``.

    Args:
        request: the scenes to generate.
        console: shows the progress.

    Raises:
        InputError: the request is invalid; nothing was started or written.
        SystemFailure: simulators or storage failed; committed scenes stay.
    """
    began = time.monotonic()
    keep_local_direct()
    open_file_limit()
    ready = prepared(request, ON_TOP)  # before the import of Prefect: input errors appear in a third of the time
    job = ready.job
    each = counts(sample=job.samples, image=job.images_per_scene)
    what = f" {', '.join(job.towns)}: {count(len(job.scenes), 'scene')} x {each} each, seed {job.seed}"
    console.print(line(("bold", job.dataset), what))
    with ExitStack() as stack:
        stack.enter_context(_sigterm_as_interrupt())
        refuse_foreign_servers(ready, console=console)
        has_server = _use_server(ready, stack, console=console)
        opening = time.monotonic()
        importing = partial(import_module, "uavsim.flows.generate")  # takes as long as a simulator's start
        context = stack.enter_context(opened(ready, console=console, meanwhile=importing))
        from uavsim.flows.generate import generate_dataset
        from uavsim.flows.runs import Run

        run = stack.enter_context(Run(context, has_server=has_server).current())
        summary = run.complete(generate_dataset, request.model_copy(update={"run": None}))
        simulator_s = ((context.pool.closed_s or time.monotonic()) - opening) * len(context.pool.slots)
    return Result.of(
        summary,
        unchanged=context.unchanged,
        address=context.output.address,
        seconds=time.monotonic() - began,
        simulator_s=simulator_s,
        size_bytes=sum(committed_bytes(context.output, name) for name in summary.named("committed")),
    )


def _use_server(ready: Prepared, stack: ExitStack, *, console: Screen) -> bool:
    """Point Prefect to the configured server, or to that of ``uavsim ui``; return whether there is one.

    A run without scenes to fly needs no server.

    Raises:
        InputError: Prefect refuses a variable of the environment.
        SystemFailure: the configured server does not answer.
    """
    url = configured_api_url()
    # Before Prefect is imported: the run shows its progress itself, and the first import of Prefect must not prompt.
    os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")
    os.environ.setdefault("PREFECT_INTERNAL_LOGGING_LEVEL", "CRITICAL")
    os.environ.setdefault("DO_NOT_TRACK", "1")
    if not ready.to_fly:
        return False
    if url is not None:
        check_api(url)
        stack.enter_context(use_api(url))
        return True
    address = account_address()
    if address is None:
        return False
    key = address.key if console.is_terminal else f"in {address.key_file}"  # a log may be read by others
    console.print(line("in a browser: ", ("bold", address.url), f" (key {key})"))
    stack.enter_context(use_api(address.api, key=address.key))
    return True


@contextmanager
def _sigterm_as_interrupt() -> Iterator[None]:
    """Let SIGTERM end the run as Ctrl-C does, so that simulators and client processes end and no partial scene remains."""
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    ):
        yield  # not the main thread, or the command line, which handles the signals itself
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
