"""The stages of one scene as ordinary functions: fly, label, commit; nothing here knows Prefect.

A scene's failure is counted in the ledger and becomes quarantine after ``attempts``; a simulator that cannot be brought up
is the simulator slot's failure, not the scene's; storage that cannot be written ends the run, and the next one continues.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from uavsim.annotate.lidar_files import write_lidar_files
from uavsim.annotate.scene import annotate
from uavsim.capture.client_events import ClientEvent, Progress, SceneFlown, UnknownEvent, fields_of
from uavsim.capture.recording_reader import LOG_NAME, read_recording
from uavsim.config.run import RunConfig
from uavsim.dataset.fragment import pack_fragment
from uavsim.dataset.layout import final_paths
from uavsim.dataset.strict import scene_fragment
from uavsim.errors import InputError, SceneVoid, StorageError, SystemFailure, UavsimError
from uavsim.flows.finish import keep_map_mask
from uavsim.flows.job import Job
from uavsim.flows.progress import RunProgress
from uavsim.flows.request import Request
from uavsim.images.codec import decode_rgb
from uavsim.records.codec import pack_plan
from uavsim.records.modalities import RGB
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import Recording
from uavsim.store.atomic import replace_bytes, storage_errors, to_json_bytes
from uavsim.store.commit import commit_scene, retire_scene
from uavsim.store.journal import Journal
from uavsim.store.layout import OutLayout, staging_name
from uavsim.store.ledger import LedgerEntry, SceneFacts, read_entry, write_entry
from uavsim.store.output import Output
from uavsim.supervise.simulator_slot import NoSlotLeft, SimulatorSlot, SlotPool

__all__ = ["Gate", "RunContext", "SceneOutcome", "SceneQuarantined", "fly_scene", "refuse_blank_images"]

_RUN_ENDS = (StorageError, InputError, NoSlotLeft)  # not the scene's failure


class SceneQuarantined(SystemFailure):
    """A scene failed as often as it may; the message is its last reason."""


@dataclass(frozen=True, slots=True)
class SceneOutcome:
    """How a scene stands when its task ends.

    Attributes:
        scene: its name.
        state: committed now or before; quarantined; elsewhere: another process has it; skipped: the run is ending.
        attempts: failed ones, in all runs.
        facts: how it was flown; None when it is not committed.
        reason: the last failure, if any.
    """

    scene: str
    state: str
    town: str = ""
    attempts: int = 0
    facts: SceneFacts | None = None
    reason: str = ""


Gate = Callable[[SimulatorSlot], AbstractContextManager[None]]


def _no_gate(slot: SimulatorSlot) -> AbstractContextManager[None]:
    del slot
    return nullcontext()


@dataclass(eq=False)
class RunContext:
    """What the scenes of one run share; lives in the flow's process only.

    Attributes:
        request: what was asked for.
        job: what follows from it.
        output: where committed scenes go.
        run: attempts and deadlines.
        pool: the simulators.
        progress: shows people how it goes.
        gate: held while a scene flies on a simulator slot that other runs may use too.
    """

    request: Request
    job: Job
    output: Output
    run: RunConfig
    pool: SlotPool
    progress: RunProgress
    gate: Gate = _no_gate
    _stop: threading.Event = field(default_factory=threading.Event)
    _failure: UavsimError | None = None

    @property
    def layout(self) -> OutLayout:
        """Of the run's own files on this machine."""
        return OutLayout(self.output.root)

    @property
    def stopped(self) -> bool:
        """Whether no further scene is to start."""
        return self._stop.is_set()

    @property
    def failure(self) -> UavsimError | None:
        """What ended the run early."""
        return self._failure

    def abort(self, error: UavsimError | None) -> None:
        """End the run after the scenes in flight; the first reason is kept."""
        self._failure = self._failure or error
        self._stop.set()


def fly_scene(context: RunContext, scene: str) -> SceneOutcome:
    """Bring one scene into the data set, unless it is there already or another process has it.

    Raises:
        SceneQuarantined: it failed for the last time.
        UavsimError: it failed and may be tried once more; or the storage failed, and the context is aborted.
    """
    if context.stopped:
        return SceneOutcome(scene, "skipped")
    try:
        with context.output.lock(scene) as ours:
            if not ours:
                return SceneOutcome(scene, "elsewhere")
            return _fly_locked(context, scene)
    except _RUN_ENDS as error:
        context.abort(error)
        raise


def _fly_locked(context: RunContext, scene: str) -> SceneOutcome:
    plan = context.job.plan_of(scene)
    packed = pack_plan(plan)
    sha = hashlib.sha256(packed).hexdigest()
    entry = read_entry(context.output, scene)
    forced = context.request.force and (entry is None or entry.forced_by != os.getpid())
    if entry is not None and not forced and entry.plan_sha256 == sha:
        if entry.state != "flying":
            return _outcome(entry)
    else:
        fresh = LedgerEntry(
            scene,
            "flying",
            index=plan.scene_index,
            town=plan.town.name,
            plan_sha256=sha,
            forced_by=os.getpid() if forced else 0,
        )
        if entry is not None:
            retire_scene(context.output, fresh)
        entry = fresh
    write_entry(context.output, entry)
    return _attempt(context, entry, plan=plan, packed=packed)


def _attempt(context: RunContext, entry: LedgerEntry, *, plan: ScenePlan, packed: bytes) -> SceneOutcome:
    journal = Journal(context.layout.scene_log(entry.scene))
    attempt = entry.attempts + 1
    folder = context.layout.staging / staging_name(entry.scene, attempt=f"{attempt}-{os.urandom(4).hex()}")
    journal.add("start", scene=entry.scene, attempt=attempt, town=entry.town, plan_sha256=entry.plan_sha256)
    try:
        with storage_errors(f"stage scene {entry.scene}"):
            folder.mkdir(parents=True)
            (folder / "plan.msgpack").write_bytes(packed)
        committed = _fly_label_commit(context, entry, plan=plan, folder=folder, journal=journal)
    except _RUN_ENDS as error:
        journal.add("stopped", kind=type(error).__name__, reason=str(error))
        raise
    except UavsimError as error:
        if context.stopped:
            journal.add("stopped", kind=type(error).__name__, reason=str(error))
            return SceneOutcome(entry.scene, "skipped", reason=str(error))
        raise _failed(context, entry, error=error, folder=folder, journal=journal) from error
    finally:
        _drop_staging(folder)
    shutil.rmtree(context.layout.quarantine / entry.scene, ignore_errors=True)  # of an earlier run that gave it up
    context.progress.finished(entry.scene, line=_done_line(committed))
    return _outcome(committed)


def _fly_label_commit(
    context: RunContext, entry: LedgerEntry, *, plan: ScenePlan, folder: Path, journal: Journal
) -> LedgerEntry:
    flown, slot, fly_s = _fly(context, entry.scene, plan=plan, folder=folder, journal=journal)
    began = time.monotonic()
    recording = read_recording(Path(flown.recording))
    refuse_blank_images(recording)
    keep_map_mask(context.output, recording)
    fragment = pack_fragment(scene_fragment(annotate(recording)))
    moves = final_paths(recording) | write_lidar_files(recording)
    label_s = time.monotonic() - began
    facts = SceneFacts(
        vehicles=recording.facts.vehicles_spawned,
        vehicles_asked=recording.facts.vehicles_asked,
        walkers=recording.facts.walkers_spawned,
        samples=plan.samples,
        images=flown.images,
        images_per_s=round(flown.images / max(fly_s, 1e-9), 2),
        fly_s=round(fly_s, 2),
        label_s=round(label_s, 2),
        slot=slot,
    )
    done = replace(entry, facts=facts)
    folder = Path(flown.recording)
    committed = commit_scene(context.output, done, folder=folder, moves=moves, log=LOG_NAME, fragment=fragment)
    journal.add("committed", commit_s=round(time.monotonic() - began - label_s, 2), **asdict(facts))
    return committed


def _fly(
    context: RunContext, scene: str, *, plan: ScenePlan, folder: Path, journal: Journal
) -> tuple[SceneFlown, str, float]:
    """Fly on the next free simulator slot; returns what was flown, the slot's name, and the seconds without the waiting."""

    def on_event(event: ClientEvent) -> None:
        context.progress.on_event(scene, event)
        if isinstance(event, UnknownEvent):
            journal.add("unknown event", kind=event.event, fields=event.fields)
        elif not isinstance(event, Progress):
            journal.add(event.event, **fields_of(event))

    with context.pool.borrow_ready(town=plan.town.name, journal=journal.add) as slot, context.gate(slot):
        began = time.monotonic()
        journal.add("flying", slot=slot.name, **(fields_of(slot.client_facts) if slot.client_facts else {}))
        flown = slot.fly(folder / "plan.msgpack", out=folder / "recording", town=plan.town.name, on_event=on_event)
        fly_s = time.monotonic() - began
        slot.pace.note(flown.images / max(fly_s, 1e-9))
    return flown, slot.name, fly_s


def refuse_blank_images(recording: Recording) -> None:
    """Refuse a scene whose first images show nothing at all: an overfull graphics memory paints one colour.

    Raises:
        SceneVoid: every first image of the first drone is of one colour.
    """
    first = recording.frames[0]
    shots = [shot for shot in first.shots if shot.drone_id == first.shots[0].drone_id and RGB in shot.files]
    spans = [
        int(image.max()) - int(image.min()) for image in (decode_rgb(recording.folder / s.files[RGB]) for s in shots)
    ]
    if spans and max(spans) <= 2:
        raise SceneVoid(
            "every image is of one colour: the simulator does not render (graphics memory full, or a wrong driver)"
        )


def _failed(
    context: RunContext, entry: LedgerEntry, *, error: UavsimError, folder: Path, journal: Journal
) -> UavsimError:
    """Count the failure, keep its evidence, and return the error that the task ends with."""
    reason = f"{type(error).__name__}: {error}"
    failed = entry.failed(reason)
    final = failed.attempts >= context.run.attempts
    journal.add("failed", attempt=failed.attempts, kind=type(error).__name__, reason=str(error), final=final)
    write_entry(context.output, replace(failed, state="quarantined") if final else failed)
    evidence = context.layout.quarantine / entry.scene
    if final:
        with storage_errors(f"keep the evidence of {entry.scene}"):
            replace_bytes(evidence / "reasons.json", to_json_bytes({"scene": entry.scene, "reasons": failed.reasons}))
            replace_bytes(evidence / "plan.msgpack", (folder / "plan.msgpack").read_bytes())
            for slot in context.pool.slots:
                replace_bytes(evidence / f"{slot.name}-client.log", slot.client_log_tail().encode())
    what = "quarantined" if final else f"attempt {failed.attempts} of {context.run.attempts} failed"
    context.progress.failed(entry.scene, line=f"[yellow]{entry.scene}[/] {what}: {error}")
    return SceneQuarantined(f"{entry.scene}: {reason}") if final else error


def _drop_staging(folder: Path) -> None:
    """Remove what is left of an attempt; what cannot be removed now is swept by the next run."""
    shutil.rmtree(folder, ignore_errors=True)


def _done_line(entry: LedgerEntry) -> str:
    facts = entry.facts or SceneFacts()
    retries = f", {entry.attempts} failed before" if entry.attempts else ""
    return (
        f"[green]{entry.scene}[/] {facts.samples} samples, {facts.images} images, "
        f"{facts.vehicles} of {facts.vehicles_asked} vehicles, {facts.images_per_s} images/s{retries}"
    )


def _outcome(entry: LedgerEntry) -> SceneOutcome:
    reason = entry.reasons[-1] if entry.reasons else ""
    return SceneOutcome(entry.scene, entry.state, entry.town, entry.attempts, entry.facts, reason)
