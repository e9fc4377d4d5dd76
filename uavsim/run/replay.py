"""``uavsim replay``: the scenes of a data set once more, with their recorded motion in place of traffic.

A replay is a job as any other: it is planned, flown, labelled, committed and validated by the same stages. What differs is one
field of each plan, ``ScenePlan.replay``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from uavsim.capture.recording_reader import read_recording
from uavsim.config.backends import backend_of
from uavsim.config.kept import KEPT
from uavsim.config.rig import Lidar
from uavsim.config.run import RunConfig
from uavsim.errors import DatasetError, InputError
from uavsim.files.parse import parse_json, read_regular
from uavsim.plan.config_to_plan import lidar_spec
from uavsim.plan.numbering import parse_numbers
from uavsim.records.classes import LABELS, class_of
from uavsim.records.corner_cases import part_of_role
from uavsim.records.modalities import LIDAR, camera_sensors, modality
from uavsim.records.plan import ReplayPlan, ScenePlan
from uavsim.records.recording import ActorInfo, Recording
from uavsim.registry import pick
from uavsim.run.request import ReplayRequest, Request
from uavsim.store.commit import generation_of
from uavsim.store.identity import IDENTITY, kept_dataset, read_identity
from uavsim.store.ledger import LedgerEntry, read_ledger
from uavsim.store.local import LocalOutput
from uavsim.typing import JsonDict

__all__ = ["kept_again", "replayed", "request_of_recordings", "source_fingerprint"]

_CHOICES: Final = ("formation", "rig", "weather", "topology")
_SAME: Final = (
    "dataset",
    "seed",
    "step_us",
    "samples",
    "keyframe_every_steps",
    "sweeps_per_keyframe",
    "start_timestamp_us",
)


def request_of_recordings(
    folder: Path,
    out: str,
    *,
    scenes: str | None = None,
    sensors: str | None = None,
    hide: tuple[str, ...] = (),
    changes: dict[str, str | None],
    simulators: tuple[str, ...] = (),
    run: RunConfig | None = None,
) -> Request:
    """Make the request that shows the scenes of ``folder`` again.

    Args:
        folder: a data set of ours with its recordings.
        out: where the replay goes.
        scenes: numbers in the data set; all that are committed by default.
        sensors: ``+lidar,+depth``.
        hide: actors or classes.
        changes: formation, rig, weather and topology, where they are to be others.
        simulators: as of ``uavsim generate``.
        run: as of ``uavsim generate``.

    Raises:
        InputError: not a data set of ours, a scene that it does not have, or nothing that can be shown again.
    """
    output, identity = _source(folder)
    if "://" not in out and Path(out).expanduser().resolve() == folder.resolve():
        raise InputError(f"--out {out}: is the data set itself; name another folder")
    dataset = kept_dataset(output)
    if dataset is None:
        raise InputError(f"{folder}: does not keep its configuration ({KEPT}); it was made by a version that kept none")
    entries = _committed(output, folder)
    numbers = sorted(entries)
    if scenes is not None:
        numbers = list(parse_numbers(scenes))
        if missing := [number for number in numbers if number not in entries]:
            raise InputError(f"--scenes: {folder} has no scene {missing[0]}; it has {min(entries)} to {max(entries)}")
    asked = identity.get("request", {})
    inner = asked.get("replay") or {}
    chosen = {key: changes.get(key) or asked.get(key) for key in _CHOICES}
    more = _sensors(sensors)
    changed = bool(more or hide or any(changes.get(key) for key in _CHOICES))
    return Request(
        dataset=dataset,
        out=out,
        towns=tuple(dict.fromkeys(entries[number].town for number in numbers)),
        scenes=",".join(map(str, numbers)),
        samples=asked.get("samples"),
        seed=asked.get("seed"),
        formation=chosen["formation"],
        rig=chosen["rig"],
        weather=chosen["weather"],
        topology=chosen["topology"],
        replay=ReplayRequest(
            folder=str(folder.absolute()),
            sensors=more,
            hide=hide,
            is_changed=changed or bool(inner.get("is_changed")),
        ),
        simulators=simulators,
        run=run,
    )


def source_fingerprint(replay: ReplayRequest) -> str:
    """Name the data set that is shown again."""
    return str(_source(Path(replay.folder))[1]["fingerprint"])


def kept_again(replay: ReplayRequest, more: JsonDict) -> JsonDict:
    """Return the configuration that a replay keeps: that of the recorded data set, and what was named beside it."""
    kept: JsonDict = parse_json(read_regular(Path(replay.folder) / ".uavsim" / KEPT))
    return kept | {"files": {**kept["files"], **more.get("files", {})}}


def _source(folder: Path) -> tuple[LocalOutput, dict[str, Any]]:
    output = LocalOutput(folder.absolute())
    identity = read_identity(output)
    if identity is None:
        raise InputError(f"{folder}: no data set of ours (no {IDENTITY})")
    return output, identity


def _committed(output: LocalOutput, folder: Path) -> dict[int, LedgerEntry]:
    entries = {e.index: e for e in read_ledger(output).values() if e.state == "committed"}
    if not entries:
        raise InputError(f"{folder}: no scene is committed; there is nothing to show again")
    return entries


def _sensors(text: str | None) -> tuple[str, ...]:
    """Read ``+lidar,+depth``.

    Raises:
        InputError: a word without its plus, or no sensor of that name.
    """
    words = [word.strip() for word in (text or "").split(",") if word.strip()]
    known = [*camera_sensors(), LIDAR]
    for word in words:
        if not word.startswith("+"):
            raise InputError(f"--sensors {word!r}: write a plus before what is to be added, as +lidar,+depth")
        pick(dict.fromkeys(known), word[1:], what="sensor")
    return tuple(dict.fromkeys(word[1:] for word in words))


# ---------------------------------------------------------------------- plans
def replayed(planned: ScenePlan, request: Request) -> ScenePlan:
    """Return the plan that shows a recorded scene again.

    Args:
        planned: the scene with what was asked for; traffic and drones of the recording take the place of its own.
        request: with a ``replay``.

    Raises:
        InputError: the recording has no motion, or is of another plan; or nothing of it is called as what is to be hidden.
    """
    assert request.replay is not None
    folder = Path(request.replay.folder)
    recording = _recording(folder, planned.scene_name)
    if recording.motion is None:
        raise InputError(
            f"{folder}: the recording of {planned.scene_name} holds no motion: it was made by an older version of uavsim, or "
            "by a set-up that tells none; generate the data set again"
        )
    _refuse_damaged(recording, where=f"{folder}: {planned.scene_name}")
    before = recording.plan
    for name in _SAME:
        if getattr(before, name) != getattr(planned, name):
            raise InputError(
                f"{folder}: {planned.scene_name} was recorded with {name} {getattr(before, name)}, its configuration now "
                f"gives {getattr(planned, name)}: another version of uavsim recorded it, or its configuration was changed"
            )
    asked = _source(folder)[1].get("request", {})
    drones = request.formation == asked.get("formation")
    plan = _changed(before, planned, request, asked)
    hidden = _hidden(recording.actors, request.replay.hide, folder=folder, scene=planned.scene_name)
    plan = _without(plan, recording.actors, hidden, where=f"{folder}: {planned.scene_name}")
    states = {frame.step: frame.actors for frame in recording.frames}
    if missing := [step for step in before.capture_steps if step not in states]:
        raise InputError(f"{folder}: the recording of {planned.scene_name} lacks step {missing[0]}; it is damaged")
    recorded = ReplayPlan(
        motion=recording.motion,
        actors=recording.actors,
        states=tuple(states[step] for step in before.capture_steps),
        hidden=hidden,
        drones=drones,
        vehicles_spawned=recording.facts.vehicles_spawned,
        walkers_spawned=recording.facts.walkers_spawned,
    )
    return replace(plan, replay=recorded)


def _recording(folder: Path, scene: str) -> Recording:
    entry = next((e for e in read_ledger(LocalOutput(folder)).values() if e.scene == scene), None)
    if entry is None or entry.state != "committed":
        raise InputError(f"{folder}: scene {scene} is not committed; there is nothing to show again")
    try:
        return read_recording(folder / generation_of(entry).recording)
    except DatasetError as error:
        raise InputError(str(error)) from error


def _refuse_damaged(recording: Recording, *, where: str) -> None:
    """Refuse motion that cannot be unpacked or that names actors which the recording does not describe."""
    assert recording.motion is not None
    try:
        motion = recording.motion.open()
    except DatasetError as error:
        raise InputError(f"{where}: {error}") from error
    known = {info.instance_id for info in recording.actors}
    if strangers := [int(i) for i in motion.instance_id if int(i) not in known]:
        raise InputError(
            f"{where}: the recording moves actor {strangers[0]}, which it does not describe; it is damaged"
        )


def _changed(before: ScenePlan, planned: ScenePlan, request: Request, asked: JsonDict) -> ScenePlan:
    """Return the recorded plan with what is to be other; what is not keeps its recorded value."""
    parts = {
        "formation": ("swarm", "formation_name", "description"),
        "rig": ("rig", "lidar", "rig_name"),
        "weather": ("weather", "description"),
        "topology": ("topology",),
    }
    names = {name for key in _CHOICES if getattr(request, key) != asked.get(key) for name in parts[key]}
    plan = replace(before, **{name: getattr(planned, name) for name in names})
    assert request.replay is not None
    return _with_sensors(plan, request.replay.sensors)


def _with_sensors(plan: ScenePlan, more: tuple[str, ...]) -> ScenePlan:
    server = backend_of(plan.topology).sensors_from
    for name in more:
        if not modality(name).given_by(server):
            raise InputError(f"--sensors +{name}: topology {plan.topology} cannot give it")
    cameras = [name for name in more if name != LIDAR]
    rig = tuple(replace(spec, sensors=tuple(dict.fromkeys((*spec.sensors, *cameras)))) for spec in plan.rig)
    lidar = plan.lidar
    if LIDAR in more and lidar is None:
        lidar = lidar_spec(Lidar(), step_us=plan.step_us)
    return replace(plan, rig=rig, lidar=lidar)


def _without(plan: ScenePlan, actors: tuple[ActorInfo, ...], hidden: tuple[int, ...], *, where: str) -> ScenePlan:
    """Return a plan without the intruders that are hidden.

    Raises:
        InputError: a part of a corner case is to be hidden, so that the scene would lack it; or the recording is damaged.
    """
    for info in actors:
        part = part_of_role(info.attributes.get("role_name", ""))
        if info.instance_id in hidden and part is not None and plan.corner_cases is not None:
            raise InputError(
                f"{where}: actor {info.instance_id} ({info.blueprint}) is a part of corner case "
                f"{plan.corner_cases.cases[part[0]].name!r}, which stays: hide another"
            )
    flown = sorted(info.instance_id for info in actors if info.kind == "intruder")
    if len(flown) != len(plan.intruders):
        raise InputError(
            f"{where}: {len(plan.intruders)} intruders are planned, {len(flown)} were recorded; it is damaged"
        )
    shown = (one for instance_id, one in zip(flown, plan.intruders, strict=True) if instance_id not in hidden)
    return replace(plan, intruders=tuple(shown))


def _of_scene(words: tuple[str, ...], scene: str) -> list[str]:
    """Return the words that are about a scene: those without one, and ``SCENE:WORD`` of this one."""
    parted = [word.rpartition(":") for word in words]
    return [word for place, _, word in parted if place in ("", scene)]


def _hidden(actors: tuple[ActorInfo, ...], words: tuple[str, ...], *, folder: Path, scene: str) -> tuple[int, ...]:
    """Return the instance ids of what is to be hidden: a number, a blueprint, or a class of labels.

    Raises:
        InputError: a number that no actor has, or a word that is neither a class nor a blueprint.
    """
    hidden: set[int] = set()
    where = f"{folder}: {scene}"
    blueprints = dict.fromkeys(info.blueprint for info in actors)
    for word in _of_scene(words, scene):
        if word.isdigit():
            found = {info.instance_id for info in actors if info.instance_id == int(word)}
            if not found:
                last = max((info.instance_id for info in actors), default=0)
                raise InputError(f"{where} has no actor {word}; it has {f'1 to {last}' if last else 'none'}")
        elif word in LABELS:
            found = {i.instance_id for i in actors if (kind := class_of(i)) is not None and kind.label == word}
        elif "." in word:
            found = {info.instance_id for info in actors if info.blueprint == word}
        else:
            pick(dict.fromkeys((*LABELS, *blueprints)), word, what="class or blueprint to hide")
        hidden |= found
    return tuple(sorted(hidden))
