"""``uavsim replay``: generate the scenes of a dataset again with their recorded motion instead of traffic.

The usual stages plan, fly, label, commit and validate a replay. Only one ingredient of each scene plan differs.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from uavsim.capture.recording_reader import read_recording
from uavsim.config.library import Library
from uavsim.config.run import RunConfig
from uavsim.config.stored import CONFIG_FILE
from uavsim.errors import DatasetError, InputError
from uavsim.files.result_folder import refuse_inside
from uavsim.ingredients.replay import ReplayPlan
from uavsim.ingredients.replay_plans import replay_plan
from uavsim.ingredients.skin_plans import coloured, dressed, other_traffic
from uavsim.ingredients.skins import SkinPlan
from uavsim.plan.numbering import parse_numbers
from uavsim.records.modalities import LIDAR, camera_sensors
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import Recording
from uavsim.registry import pick
from uavsim.run.request import ReplayRequest, Request, SkinRequest
from uavsim.store.commit import generation_of
from uavsim.store.identity import IDENTITY, kept_dataset, read_identity
from uavsim.store.ledger import LedgerEntry, read_ledger
from uavsim.store.local import LocalOutput

_CHOICES: Final = ("formation", "rig", "weather", "topology")


def request_of_recordings(
    folder: Path,
    out: str,
    *,
    scenes: str | None = None,
    sensors: str | None = None,
    hide: tuple[str, ...] = (),
    changes: dict[str, str | None],
    skin: SkinRequest | None = None,
    simulators: tuple[str, ...] = (),
    run: RunConfig | None = None,
) -> Request:
    """Return the request that replays the scenes of ``folder``.

    Args:
        folder: a uavsim dataset with its recordings.
        out: folder of the replay.
        scenes: scene numbers; default: all committed scenes.
        sensors: additional sensors, as ``+lidar,+depth``.
        hide: actors, blueprints or classes to leave out.
        changes: new formation, rig, weather and topology; None keeps one.
        skin: skin to draw for each scene.
        simulators: as in ``uavsim generate``.
        run: as in ``uavsim generate``.

    Raises:
        InputError: the folder is not a uavsim dataset, has no committed scene, or not a requested one.
    """
    output, identity = _source(folder)
    if "://" not in out:
        refuse_inside(folder, Path(out).expanduser())
    dataset = kept_dataset(output)
    if dataset is None:
        raise InputError(f"{folder}: {CONFIG_FILE} is missing: an older version made the dataset; generate it again")
    entries = _committed(output, folder)
    numbers = sorted(entries)
    if scenes is not None:
        numbers = list(parse_numbers(scenes))
        if missing := [number for number in numbers if number not in entries]:
            raise InputError(f"--scenes: {folder} has no scene {missing[0]}; it has {min(entries)} to {max(entries)}")
    recorded = identity.get("request", {})
    inner = recorded.get("replay") or {}
    chosen: dict[str, Any] = {key: changes.get(key) or recorded.get(key) for key in _CHOICES}
    added_sensors = _sensors(sensors)
    changed = bool(added_sensors or hide or skin or any(changes.get(key) for key in _CHOICES))
    return Request(
        dataset=dataset,
        out=out,
        towns=tuple(dict.fromkeys(entries[number].town for number in numbers)),
        scenes=",".join(map(str, numbers)),
        samples=recorded.get("samples"),
        seed=recorded.get("seed"),
        **chosen,
        replay=ReplayRequest(
            folder=str(folder.absolute()),
            sensors=added_sensors,
            hide=hide,
            skin=skin,
            is_changed=changed or bool(inner.get("is_changed")),
        ),
        simulators=simulators,
        run=run,
    )


def _source(folder: Path) -> tuple[LocalOutput, dict[str, Any]]:
    output = LocalOutput(folder.absolute())
    identity = read_identity(output)
    if identity is None:
        raise InputError(f"{folder}: not a uavsim dataset (no {IDENTITY})")
    return output, identity


def _committed(output: LocalOutput, folder: Path) -> dict[int, LedgerEntry]:
    entries = {e.index: e for e in read_ledger(output).values() if e.state == "committed"}
    if not entries:
        raise InputError(f"{folder}: the dataset has no committed scene to replay")
    return entries


def _sensors(text: str | None) -> tuple[str, ...]:
    """Return the sensors of ``+lidar,+depth``.

    Raises:
        InputError: a word without a plus.
        UnknownNameError: no such sensor.
    """
    words = [word.strip() for word in (text or "").split(",") if word.strip()]
    known = [*camera_sensors(), LIDAR]
    for word in words:
        if not word.startswith("+"):
            raise InputError(f"--sensors {word!r}: write a plus before each sensor to add, as +lidar,+depth")
        pick(dict.fromkeys(known), word[1:], what="sensor")
    return tuple(dict.fromkeys(word[1:] for word in words))


def replayed(planned: ScenePlan, request: Request) -> ScenePlan:
    """Return the plan that replays a recorded scene.

    Args:
        planned: the scene plan; the recording replaces its traffic and drones.
        request: a request with ``replay``.

    Raises:
        InputError: the recording has no motion, belongs to another plan, or lacks an actor to hide.
    """
    assert request.replay is not None
    folder = Path(request.replay.folder)
    recording, skin = _recording(folder, planned.scene_name), request.replay.skin
    if skin is not None and skin.skin.traffic == "other":
        return _in_skin(other_traffic(planned, name=skin.name, draw=skin.draw), skin, request.dataset)
    recorded = _source(folder)[1].get("request", {})
    plan = replay_plan(
        planned,
        recording,
        changed=tuple(key for key in _CHOICES if getattr(request, key) != recorded.get(key)),
        sensors=request.replay.sensors,
        hide=request.replay.hide,
        folder=folder,
    )
    return plan if skin is None else _in_skin(plan, skin, request.dataset)


def _in_skin(plan: ScenePlan, request: SkinRequest, dataset: str) -> ScenePlan:
    library, record = Library.of().with_dataset(dataset)[1], plan.of(ReplayPlan)
    actors = record.actors if record is not None else ()
    plan = dressed(plan, request.skin, name=request.name, draw=request.draw, actors=actors, library=library)
    skin = plan.of(SkinPlan)
    if record is None or skin is None:
        return plan
    repainted = replace(record, actors=coloured(actors, skin))
    return replace(plan, ingredients=plan.ingredients | {"replay": repainted})


def _recording(folder: Path, scene: str) -> Recording:
    entry = next((e for e in read_ledger(LocalOutput(folder)).values() if e.scene == scene), None)
    if entry is None or entry.state != "committed":
        raise InputError(f"{folder}: scene {scene} is not committed and cannot be replayed")
    try:
        return read_recording(folder / generation_of(entry).recording)
    except DatasetError as error:
        raise InputError(str(error)) from error
