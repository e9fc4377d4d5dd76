"""The stages of one scene as ordinary functions, independent of Prefect: fly, label, commit.

The ledger counts a scene's failures, up to quarantine after ``attempts``. A simulator that does not start is a failure of the
simulator slot, not of the scene. A storage failure ends the run; the next run continues.
"""

import socket
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Final

from uavsim.capture.client_events import ClientEvent, Progress, SceneFlown, UnknownEvent, fields_of
from uavsim.capture.recording_reader import LOG_NAME, read_recording
from uavsim.config.run import RunConfig
from uavsim.dataset.fragment import in_generation, pack_fragment
from uavsim.dataset.layout import final_paths
from uavsim.dataset.strict import scene_fragment
from uavsim.errors import InputError, MapMissing, StorageError, SystemFailure, TrafficStalled, UavsimError
from uavsim.files.names import generation_name
from uavsim.files.whole import storage_errors, to_json_bytes
from uavsim.memory import give_back_freed_memory
from uavsim.records.codec import pack_plan
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import moved_share
from uavsim.run.blank_images import refuse_blank_images
from uavsim.run.finish import keep_map_mask
from uavsim.run.job import Job, PackedPlan
from uavsim.run.outcome import SceneOutcome, done_line, outcome_of
from uavsim.run.progress import RunProgress
from uavsim.run.request import Request
from uavsim.run.town_files import keep_town_files
from uavsim.store.commit import choose_generation, commit_scene
from uavsim.store.evidence import drop_evidence, image_evidence, keep_evidence
from uavsim.store.identity import refuse_removed
from uavsim.store.journal import Journal
from uavsim.store.layout import OutLayout
from uavsim.store.ledger import LedgerEntry, Replacement, SceneFacts, read_entry, write_entry
from uavsim.store.output import Output
from uavsim.supervise.simulator_slot import NoSlotLeft, SimulatorSlot, SlotPool
from uavsim.terminal import line

RUN_ENDS: Final = (StorageError, InputError, MapMissing, NoSlotLeft)
"""Errors that are not the scene's fault and end the run."""


class SceneQuarantined(SystemFailure):
    """A scene exceeded its attempts; the message is the last failure."""


Gate = Callable[[SimulatorSlot], AbstractContextManager[object]]


@dataclass(slots=True)
class _AttemptCost:
    """The cost of an attempt so far: simulator seconds, processor seconds, and the simulator's name."""

    fly_s: float = 0.0
    core_s: float = 0.0
    slot: str = ""


@dataclass(eq=False)
class RunContext:
    """State shared by all scenes of a run within the flow's process.

    Attributes:
        request: the request.
        job: its scenes and plans.
        output: the dataset of the committed scenes.
        run: attempts and deadlines.
        pool: the simulators.
        progress: shows the progress.
        gate: held while a scene flies on a simulator shared with other runs.
        unchanged: entries of committed scenes with an unchanged plan.
        failure: the error that ended the run early.
    """

    request: Request
    job: Job
    output: Output
    run: RunConfig
    pool: SlotPool
    progress: RunProgress
    gate: Gate = nullcontext
    unchanged: Mapping[str, LedgerEntry] = field(default_factory=dict)
    _stop: threading.Event = field(default_factory=threading.Event)
    failure: UavsimError | None = None
    _begun: set[str] = field(default_factory=set)
    _settled: set[str] = field(default_factory=set)

    @property
    def layout(self) -> OutLayout:
        """Folders of the run's own files on this machine."""
        return OutLayout(self.output.root)

    @property
    def workers(self) -> int:
        """Number of threads: each simulator flies one scene while others are labelled."""
        return max(len(self.pool.slots), 1) * (1 + self.run.label_threads)

    @property
    def stopped(self) -> bool:
        """Return whether the run starts no further scene."""
        return self._stop.is_set()

    def is_forced(self, scene: str) -> bool:
        """Return whether this run must still fly a committed scene."""
        return self.request.force and scene not in self._settled

    def begin(self, scene: str) -> bool:
        """Note the start of a scene; True the first time."""
        first = scene not in self._begun
        self._begun.add(scene)
        return first

    def settle(self, scene: str) -> None:
        """Note that a scene is committed or in quarantine."""
        self._settled.add(scene)

    def wait_for_end(self, seconds: float) -> None:
        """Wait for a time or until the run ends."""
        self._stop.wait(seconds)

    def abort(self, error: UavsimError | None) -> None:
        """End the run after the scenes in flight; the first error is kept."""
        self.failure = self.failure or error
        self._stop.set()


def fly_scene(context: RunContext, scene: str) -> SceneOutcome:
    """Add one scene to the dataset, unless it is committed or another process holds it.

    Raises:
        SceneQuarantined: the last attempt failed.
        UavsimError: an attempt failed and another may follow; or the storage failed, and the context is aborted.
    """
    if context.stopped:
        return SceneOutcome(scene, "skipped")
    try:
        with context.output.lock(scene) as is_locked:
            if not is_locked:
                return SceneOutcome(scene, "elsewhere")
            return _fly_locked(context, scene)
    except UavsimError as error:
        found = _root_error(context, error)
        if isinstance(found, RUN_ENDS):
            context.abort(found)
        if found is error:
            raise
        raise found from error


def _root_error(context: RunContext, error: UavsimError) -> UavsimError:
    """Return the error, or an error about the removal of the dataset during the run."""
    try:
        refuse_removed(context.output)
    except StorageError as removed:
        return removed
    return error


def _fly_locked(context: RunContext, scene: str) -> SceneOutcome:
    packed = context.job.plans[scene]
    sha = packed.digest
    entry = read_entry(context.output, scene)
    forced = context.is_forced(scene)
    if entry is not None and not forced and (settled := _settled_outcome(entry, sha=sha)) is not None:
        return settled
    if entry is not None and entry.state == "committed" and entry.replacing is None and not forced:
        said = (
            " is flown again: its plan has changed since it was committed, by a new version of uavsim or an edited YAML"
        )
        context.progress.say(line(("yellow", scene), said))
    restart = context.begin(scene) and forced
    plan = context.job.plan_of(scene)
    entry = _entry_to_fly(entry, plan=plan, sha=sha, restart=restart)
    write_entry(context.output, entry)
    return _attempt(context, entry, plan=plan, packed=packed)


def _settled_outcome(entry: LedgerEntry, *, sha: str) -> SceneOutcome | None:
    """Return the outcome of a scene that is committed or quarantined with this plan; else None."""
    if entry.plan_sha256 == sha and entry.state != "flying":
        return outcome_of(entry)
    again = entry.replacing
    if again is not None and again.given_up and again.plan_sha256 == sha:
        return replace(outcome_of(entry), state="quarantined")
    return None


def _entry_to_fly(entry: LedgerEntry | None, *, plan: ScenePlan, sha: str, restart: bool) -> LedgerEntry:
    """Return a scene's entry for a flight; a committed scene stays committed until the new commit.

    Args:
        entry: the scene's entry in the ledger.
        plan: plan of the scene.
        sha: hash of the packed plan.
        restart: reset the count of attempts.
    """
    if entry is not None and entry.state == "committed":
        again = entry.replacing
        if again is None or restart or again.given_up or again.plan_sha256 != sha:
            again = Replacement(sha)
        return replace(entry, replacing=again)
    if entry is not None and not restart and entry.plan_sha256 == sha:
        return entry
    retired = entry.retired if entry is not None else ()
    return LedgerEntry(
        plan.scene_name, "flying", index=plan.scene_index, town=plan.town.name, plan_sha256=sha, retired=retired
    )


def _attempt(context: RunContext, entry: LedgerEntry, *, plan: ScenePlan, packed: PackedPlan) -> SceneOutcome:
    journal = Journal(context.layout.scene_log(entry.scene))
    journal.add(
        "start",
        scene=entry.scene,
        attempt=len(entry.failures) + 1,
        town=plan.town.name,
        plan_sha256=packed.digest,
    )
    folder, cost = context.output.stage(entry.scene), _AttemptCost()
    try:
        with storage_errors(f"stage scene {entry.scene}"):
            (folder / "plan.msgpack").write_bytes(_with_other_traffic(context, entry, plan=plan, packed=packed))
        committed = _fly_label_commit(context, entry, plan=plan, folder=folder, journal=journal, cost=cost)
        give_back_freed_memory()  # of its rows
    except UavsimError as error:
        entry = replace(entry, lost_s=round(entry.lost_s + cost.fly_s, 2))
        if (other_entry := _committed_meanwhile(context, entry)) is not None:
            journal.add("committed elsewhere", kind=type(error).__name__, reason=str(error))
            context.settle(entry.scene)
            return outcome_of(other_entry)
        if context.stopped or isinstance(error, RUN_ENDS):
            journal.add("stopped", kind=type(error).__name__, reason=str(error))
            if isinstance(error, RUN_ENDS):
                raise
            return SceneOutcome(entry.scene, "skipped", reason=str(error))
        raise _record_failure(context, entry, error=error, folder=folder, journal=journal) from error
    except Exception as error:  # a defect of uavsim ends this scene only, with a report
        kind, where = type(error).__name__, "".join(traceback.format_exception(error))
        journal.add("mistake", kind=kind, reason=str(error), traceback=where)
        said = f" a bug in uavsim, report it: {kind}: {error} (the traceback is in {context.layout.scene_log(entry.scene)})"
        context.progress.failed(entry.scene, line=line(("red", entry.scene), said))
        raise
    finally:
        context.output.drop_staged(folder)
    context.settle(entry.scene)
    drop_evidence(context.output.root, entry.scene)  # of an earlier run that gave it up
    context.progress.finished(entry.scene, line=done_line(committed))
    return outcome_of(committed)


def _with_other_traffic(context: RunContext, entry: LedgerEntry, *, plan: ScenePlan, packed: PackedPlan) -> bytes:
    """Return the scene's plan, with new traffic after each attempt with stalled traffic.

    Other failures do not change the plan, so a scene depends on its plan and this number only.
    """
    stalled = sum(reason.startswith(f"{TrafficStalled.__name__}:") for reason in entry.failures)
    retry = context.request.traffic_retries.get(entry.scene, 0) + stalled
    return pack_plan(replace(plan, traffic_retry=retry)) if retry else packed.data


def _committed_meanwhile(context: RunContext, entry: LedgerEntry) -> LedgerEntry | None:
    """Return the entry that another process committed while this frozen process had lost its lock."""
    try:
        current = read_entry(context.output, entry.scene)
    except StorageError:  # the attempt's own error says more
        return None
    is_unchanged = current is None or current == entry or current.state != "committed" or current.replacing is not None
    return None if is_unchanged else current


def _fly_label_commit(
    context: RunContext, entry: LedgerEntry, *, plan: ScenePlan, folder: Path, journal: Journal, cost: _AttemptCost
) -> LedgerEntry:
    flown = _fly(context, entry.scene, plan=plan, folder=folder, journal=journal, cost=cost)
    began, own_s = time.monotonic(), time.thread_time()
    recording = read_recording(Path(flown.recording))
    refuse_blank_images(recording)
    keep_map_mask(context.output, recording)
    keep_town_files(context.output, recording)
    from uavsim.annotate.scene import (  # imports numba: wrong words are refused without
        annotate,
        unlisted_vehicles,
        write_label_files,
    )

    labels = annotate(recording)
    if unlisted := unlisted_vehicles(recording, labels.ignored):
        journal.add("note", text=unlisted)
    give_back_freed_memory()  # 26 MB that it compares directions in, before rows take as much
    rows = scene_fragment(labels)
    moves = final_paths(recording) | write_label_files(recording)
    generation = choose_generation(context.output, entry.scene, folder=recording.folder, moves=moves)
    fragment = pack_fragment(in_generation(rows, generation))
    moves = {source: generation_name(key, generation) for source, key in moves.items()}
    label_s = time.monotonic() - began
    facts = SceneFacts(
        vehicles=recording.facts.vehicles_spawned,
        vehicles_asked=recording.facts.vehicles_asked,
        walkers=recording.facts.walkers_spawned,
        moved_in_warmup=moved_share(recording.facts.moved_in_warmup),
        moved_in_scene=moved_share(recording.facts.moved_in_scene),
        traffic_retry=recording.plan.traffic_retry,
        samples=plan.samples,
        images=flown.images,
        images_drawn=recording.facts.images_drawn,
        images_per_s=round(flown.images / max(cost.fly_s, 1e-9), 2),
        fly_s=round(cost.fly_s, 2),
        label_s=round(label_s, 2),
        core_s=round(cost.core_s + time.thread_time() - own_s, 2),
        slot=cost.slot,
        machine=socket.gethostname(),
    )
    done = LedgerEntry(
        entry.scene,
        "committed",
        index=plan.scene_index,
        town=plan.town.name,
        plan_sha256=entry.replacing.plan_sha256 if entry.replacing is not None else entry.plan_sha256,
        attempts=len(entry.failures),
        lost_s=entry.lost_s,
        reasons=entry.failures,
        facts=facts,
        generation=generation,
    )
    committed = commit_scene(
        context.output, done, folder=recording.folder, moves=moves, log=LOG_NAME, fragment=fragment
    )
    journal.add("committed", commit_s=round(time.monotonic() - began - label_s, 2), **asdict(facts))
    return committed


def _fly(
    context: RunContext, scene: str, *, plan: ScenePlan, folder: Path, journal: Journal, cost: _AttemptCost
) -> SceneFlown:
    """Fly on the next free simulator slot; ``cost`` gets the slot's name and the cost, without the waiting time."""

    def on_event(event: ClientEvent) -> None:
        context.progress.on_event(scene, event)
        if isinstance(event, UnknownEvent):
            journal.add("unknown event", kind=event.event, fields=event.fields)
        elif not isinstance(event, Progress):
            journal.add(event.event, **fields_of(event))

    with context.pool.borrow_ready(town=plan.town.name, journal=journal.add) as slot, context.gate(slot):
        began, core_s, cost.slot = time.monotonic(), slot.core_s, slot.name
        journal.add("flying", slot=slot.name, **(fields_of(slot.client_facts) if slot.client_facts else {}))
        try:
            flown = slot.fly(folder / "plan.msgpack", out=folder / "recording", town=plan.town.name, on_event=on_event)
        finally:
            cost.fly_s = time.monotonic() - began
        cost.core_s = max(slot.core_s - core_s, 0.0)
        slot.pace.note(flown.images / max(cost.fly_s, 1e-9))
        if warning := slot.card_warning():
            context.progress.say(line(("yellow", slot.name), f" {warning}"))
    return flown


def _record_failure(
    context: RunContext, entry: LedgerEntry, *, error: UavsimError, folder: Path, journal: Journal
) -> UavsimError:
    """Count a failure, keep its logs and images, and return the error to raise."""
    reason = f"{type(error).__name__}: {error}"
    failed = entry.failed(reason, most=context.run.attempts)
    final = failed.given_up
    failures = len(failed.failures)
    journal.add("failed", attempt=failures, kind=type(error).__name__, reason=str(error), final=final)
    write_entry(context.output, failed)
    if final:
        context.settle(entry.scene)
        files = {
            "reasons.json": to_json_bytes({"scene": entry.scene, "reasons": failed.failures}),
            "plan.msgpack": (folder / "plan.msgpack").read_bytes(),
            **image_evidence(folder / "recording"),
            **{f"{slot.name}-client.log": slot.client_log_tail().encode() for slot in context.pool.slots},
        }
        keep_evidence(context.output.root, entry.scene, files=files)
    what = "quarantined" if final else f"attempt {failures} of {context.run.attempts} failed"
    context.progress.failed(entry.scene, line=line(("yellow", entry.scene), f" {what}: {error}"))
    return SceneQuarantined(f"{entry.scene}: {reason}") if final else error
