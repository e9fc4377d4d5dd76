"""Make the plan of a scene's replay: the recording replaces traffic and the drones' flight."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from uavsim.config.backends import backend_of
from uavsim.config.rig import Lidar
from uavsim.errors import DatasetError, InputError
from uavsim.ingredients.replay import ReplayPlan
from uavsim.plan.config_to_plan import block_sensor
from uavsim.records.classes import LABELS, class_of
from uavsim.records.ingredients import actor_kind, ingredients_of
from uavsim.records.modalities import LIDAR, camera_sensors, modality, ordered
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import ActorInfo, Recording
from uavsim.registry import pick

_NAME: Final = "replay"
ALL: Final = "all"
"""The word for every actor of the traffic."""
_SAME: Final = (
    "dataset",
    "seed",
    "step_us",
    "samples",
    "keyframe_every_steps",
    "sweeps_per_keyframe",
    "start_timestamp_us",
)
_PARTS: Final = {
    "formation": ("swarm", "formation_name", "description"),
    "rig": ("rig", "rig_name"),
    "weather": ("weather", "description"),
    "topology": ("topology",),
}
"""Fields of a plan that a replay may change."""


def replay_plan(
    planned: ScenePlan,
    recording: Recording,
    *,
    changed: tuple[str, ...],
    sensors: tuple[str, ...],
    hide: tuple[str, ...],
    folder: Path,
) -> ScenePlan:
    """Return the plan that replays a recorded scene.

    Args:
        planned: the requested scene.
        recording: recording of the scene.
        changed: keys of ``_PARTS`` that differ from the recording; other keys keep their recorded values.
        sensors: additional modalities of every camera, or the drones' lidar.
        hide: instance ids, classes and blueprints to hide, or ``all`` of the traffic; a prefix ``scene_0000:`` limits one to
            that scene.
        folder: folder for messages.

    Raises:
        InputError: the recording has no motion or another plan, or a word of ``hide`` matches no actor.
    """
    before, where = recording.plan, f"{folder}: {planned.scene_name}"
    if recording.motion is None:
        raise InputError(
            f"{folder}: the recording of {planned.scene_name} has no motion: an older version of uavsim made it, or the "
            "backend reports no motion; generate the dataset again"
        )
    _refuse_damaged(recording, where=where)
    for name in _SAME:
        if getattr(before, name) != getattr(planned, name):
            raise InputError(
                f"{folder}: {planned.scene_name} was recorded with {name} {getattr(before, name)}, its configuration now "
                f"gives {getattr(planned, name)}: another version of uavsim recorded it, or its configuration was changed"
            )
    plan = replace(before, **{name: getattr(planned, name) for key in changed for name in _PARTS[key]})
    plan = _with_sensors(plan, sensors)
    if plan.shutter_steps > before.shutter_steps:
        longest_s = before.shutter_steps * before.step_us / 1e6
        raise InputError(
            f"{where} was recorded for {before.shutter_steps} steps after its last image, and a shutter of this rig takes "
            f"{plan.shutter_steps}: replay it with shutters that are open for {longest_s:g} s at most, or generate it again"
        )
    states = {frame.step: frame.actors for frame in recording.frames}
    if missing := [step for step in before.capture_steps if step not in states]:
        raise InputError(f"{folder}: the recording of {planned.scene_name} lacks step {missing[0]}; it is damaged")
    agents = recording.frames[0].others
    carriers = frozenset(one.instance_id for one in agents)
    hidden = _hidden(recording.actors, hide, carriers=carriers, folder=folder, scene=planned.scene_name)
    if gone := [one.agent.id for one in agents if one.instance_id in hidden]:
        raise InputError(f"{where}: the vehicle of agent {gone[0]} cannot be hidden: it carries sensors")
    facts = recording.facts
    replay = ReplayPlan(
        motion=recording.motion,
        actors=recording.actors,
        states=tuple(states[step] for step in before.capture_steps),
        hidden=hidden,
        drones="formation" not in changed,
        counts={
            "vehicles": (facts.vehicles_asked, facts.vehicles_spawned),
            "walkers": (facts.walkers_asked, facts.walkers_spawned),
            "moved_in_warmup": facts.moved_in_warmup,
            "moved_in_scene": facts.moved_in_scene,
        },
        agents=agents,
    )
    ingredients = dict(before.ingredients)
    for used in ingredients_of(ingredients):
        if used.ingredient.without is not None:
            ingredients[used.name] = used.ingredient.without.load()(used.record, recording.actors, hidden, where)
    remaining = {name: record for name, record in ingredients.items() if record is not None}
    return replace(plan, ingredients=remaining | {_NAME: replay})


def _refuse_damaged(recording: Recording, *, where: str) -> None:
    """Refuse motion that cannot be unpacked or that names undescribed actors."""
    assert recording.motion is not None
    try:
        motion = recording.motion.open()
    except DatasetError as error:
        raise InputError(f"{where}: {error}") from error
    known = {info.instance_id for info in recording.actors}
    if foreign := [int(i) for i in motion.instance_id if int(i) not in known]:
        raise InputError(f"{where}: the recording moves actor {foreign[0]} but does not describe it; it is damaged")


def _with_sensors(plan: ScenePlan, more: tuple[str, ...]) -> ScenePlan:
    server = backend_of(plan.topology).sensors_from
    for name in more:
        if not modality(name).given_by(server):
            raise InputError(f"--sensors +{name}: topology {plan.topology} does not provide it")
    cameras = [name for name in more if name in camera_sensors()]
    rig = tuple(
        replace(spec, modalities=tuple(m.name for m in ordered((*spec.modalities, *cameras))))
        if spec.params.is_optical
        else spec
        for spec in plan.rig
    )
    if LIDAR in more and not any(LIDAR in spec.modalities for spec in rig):
        rig += (block_sensor(Lidar(), name="", modality=LIDAR, step_us=plan.step_us),)
    return replace(plan, rig=rig)


def _of_scene(words: tuple[str, ...], scene: str) -> list[str]:
    """Return the words that apply to a scene: those without a scene, and ``SCENE:WORD`` of this one."""
    parts = [word.rpartition(":") for word in words]
    return [word for prefix, _, word in parts if prefix in ("", scene)]


def _can_be_hidden(info: ActorInfo) -> bool:
    """Return whether an actor is traffic, not part of the town, a corner case or the swarm."""
    kind = actor_kind(info.kind)
    return kind.may_hide and not kind.is_of_town


def _hidden(
    actors: tuple[ActorInfo, ...], words: tuple[str, ...], *, carriers: frozenset[int], folder: Path, scene: str
) -> tuple[int, ...]:
    """Return the instance ids of the hidden actors: a number, a blueprint, a class of labels, or all of the traffic.

    Args:
        actors: actors of the scene.
        words: numbers, blueprints and classes of the actors to hide.
        carriers: instance ids of actors with sensors, which ``all`` does not hide.
        folder: folder for messages.
        scene: name of the scene.

    Raises:
        InputError: no actor has a number, or a word is neither a class nor a blueprint.
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
        elif word == ALL:
            found = {i.instance_id for i in actors if _can_be_hidden(i)} - carriers
        elif word in LABELS:
            found = {i.instance_id for i in actors if (kind := class_of(i)) is not None and kind.label == word}
        elif "." in word:
            found = {info.instance_id for info in actors if info.blueprint == word}
        else:
            pick(dict.fromkeys((*LABELS, ALL, *blueprints)), word, what="class or blueprint to hide")
        hidden |= found
    return tuple(sorted(hidden))
