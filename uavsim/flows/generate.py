"""``uavsim generate``: check, bring up simulators and Prefect side by side, run the flow, say how it went."""

from __future__ import annotations

import importlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from uavsim.environment import keep_local_direct, open_file_limit
from uavsim.errors import DatasetError, SystemFailure, UavsimError
from uavsim.flows import server
from uavsim.flows.request import Request
from uavsim.memory import keep_few_pools
from uavsim.store.commit import committed_bytes, sweep_orphans
from uavsim.store.journal import redact
from uavsim.terminal import Screen, line

if TYPE_CHECKING:
    from uavsim.flows.context import Prepared
    from uavsim.flows.stages import RunContext
    from uavsim.flows.summary import DatasetSummary
    from uavsim.store.ledger import LedgerEntry

__all__ = ["Result", "generate"]

_CONSOLE_LEVEL = "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL"


@dataclass(frozen=True, slots=True)
class Result:
    """How a run ended.

    Attributes:
        address: of the dataset.
        committed: scenes of the request that are in it.
        quarantined: given up, by name.
        unfinished: neither, by name.
        images: of the scenes flown now.
        seconds: of the whole run.
        valid: what the validator said; None when it was not asked.
        contact_sheet: the page, if one was drawn.
        findings: the validator's first findings.
        simulator_s: in which simulators were kept for the run, all together.
        size_bytes: of the files of the scenes that were asked for; tables and logs are not counted.
    """

    address: str
    committed: tuple[str, ...]
    quarantined: tuple[str, ...]
    unfinished: tuple[str, ...]
    images: int
    seconds: float
    valid: bool | None = None
    contact_sheet: Path | None = None
    findings: tuple[str, ...] = field(default=())
    simulator_s: float = 0.0
    size_bytes: int = 0

    @property
    def error(self) -> UavsimError | None:
        """What the exit code is to say."""
        if self.quarantined or self.unfinished:
            parts = [
                f"{len(names)} {what}: {', '.join(names[:10])}{' ...' if len(names) > 10 else ''}"
                for what, names in (("quarantined", self.quarantined), ("unfinished", self.unfinished))
                if names
            ]
            return SystemFailure(f"{'; '.join(parts)} (uavsim status {self.address} says why)")
        if self.valid is False:
            return DatasetError(f"{self.address} is not valid: {self.findings[0] if self.findings else ''}")
        return None


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
    keep_few_pools()
    from uavsim.flows import context as contexts
    from uavsim.flows.short import generate_short

    ready = contexts.prepared(request)  # before Prefect is imported: a typing error is reported in a third of the time
    url = server.configured_api_url()
    os.environ.setdefault(_CONSOLE_LEVEL, "CRITICAL")  # before Prefect is imported: the run shows its progress itself
    job = ready.job
    console.print(
        line(
            ("bold", job.dataset),
            f" {', '.join(job.towns)}: {len(job.scenes)} scenes x {job.samples} samples, {job.images_per_scene} images each, "
            f"seed {job.seed}",
        )
    )
    with ExitStack() as stack:
        stack.enter_context(_sigterm_as_interrupt())
        if url is None and (there := contexts.committed_already(ready)) is not None:
            return _finished_again(ready, there, began=began)
        contexts.refuse_foreign_servers(ready)
        if url is not None:
            server.check_api(url)
        opening = time.monotonic()
        if url is None and contexts.is_short(ready):
            begin_import("uavsim.validate.image_measurements")  # half a second: the simulators start meanwhile
            context = stack.enter_context(contexts.opened(ready, console=console))
            summary = generate_short(context)
        else:
            context, summary = _through_prefect(stack, ready, url, console=console)
        if context.failure is not None:
            raise context.failure
        simulator_s = (time.monotonic() - opening) * len(context.pool.slots)
    return Result(
        address=context.output.address,
        committed=tuple(summary.named("committed")),
        quarantined=tuple(summary.named("quarantined")),
        unfinished=tuple(summary.named("failed") + summary.named("elsewhere") + summary.named("skipped")),
        images=summary.images,
        seconds=time.monotonic() - began,
        valid=summary.valid,
        contact_sheet=summary.contact_sheet,
        findings=summary.findings,
        simulator_s=simulator_s,
        size_bytes=sum(committed_bytes(context.output, name) for name in summary.named("committed")),
    )


def _through_prefect(
    stack: ExitStack, ready: Prepared, url: str | None, *, console: Screen
) -> tuple[RunContext, DatasetSummary]:
    """Run the flow on the user's Prefect server, or on a private one; what it opens ends with the stack.

    Raises:
        UavsimError: what ended the run.
    """
    from uavsim.flows import context as contexts
    from uavsim.flows.ahead import FlightsAhead

    temporary = stack.enter_context(server.TemporaryServer()) if url is None else None
    begin_import("uavsim.flows.dataset")  # with it Prefect, for seconds: the simulators start meanwhile
    context = stack.enter_context(contexts.opened(ready, console=console))
    stack.enter_context(FlightsAhead(context))
    url = temporary.wait() if temporary is not None else url
    assert url is not None
    stack.enter_context(server.use_api(url, key=temporary.key if temporary is not None else ""))
    from uavsim.flows.dataset import generate_opened

    return context, _assemble_tables_on_failure(context, generate_opened)


def _finished_again(ready: Prepared, there: list[LedgerEntry], *, began: float) -> Result:
    """Write the tables of a dataset whose scenes are all there, and validate it: neither simulators nor Prefect start."""
    from uavsim.flows.finish import finish_again

    output = ready.output
    sweep_orphans(output)
    finished = finish_again(output, check=ready.request.check, pixels=ready.request.pixels)
    output.sweep_leftovers()
    validation = finished.validation
    return Result(
        address=output.address,
        committed=tuple(entry.scene for entry in there),
        quarantined=(),
        unfinished=(),
        images=sum(entry.facts.images for entry in there if entry.facts is not None),
        seconds=time.monotonic() - began,
        valid=validation.ok if validation is not None else None,
        contact_sheet=finished.contact_sheet,
        findings=validation.lines if validation is not None else (),
        size_bytes=sum(committed_bytes(output, entry.scene) for entry in there),
    )


def _assemble_tables_on_failure(context: RunContext, flow: Callable[[RunContext], DatasetSummary]) -> DatasetSummary:
    """Run the flow; when Prefect fails under it, what is committed still gets its tables.

    Raises:
        SystemFailure: Prefect failed.
    """
    try:
        return flow(context)
    except UavsimError:
        raise
    except Exception as error:
        from uavsim.flows.finish import assemble_tables

        if isinstance(error, OSError) and error.errno is not None and context.failure is None:
            raise
        assemble_tables(context.output)
        if context.failure is not None:
            raise context.failure from error
        said = redact(" ".join(str(error).split()))[:200]
        raise SystemFailure(
            f"Prefect failed ({type(error).__name__}: {said}); the tables hold what is committed; run the same command again"
        ) from error


def begin_import(module: str) -> None:
    """Import a module in a thread of its own; who needs it imports it again, and waits or sees the error there."""

    def work() -> None:
        with suppress(Exception):
            importlib.import_module(module)

    threading.Thread(target=work, name=f"import {module}", daemon=True).start()


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
