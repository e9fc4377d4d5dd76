"""From a request to a job: every name is looked up and every scene is planned once before anything is started."""

from __future__ import annotations

import importlib.metadata
import platform
from collections.abc import Sequence
from functools import partial

from uavsim.config.library import Library
from uavsim.errors import InputError
from uavsim.flows.job import Job, SceneRef
from uavsim.flows.request import Request, parse_numbers
from uavsim.plan import dataset_towns, numbering, plan_scenes
from uavsim.records.plan import ScenePlan
from uavsim.store.identity import fingerprint
from uavsim.store.layout import check_name
from uavsim.typing import JsonDict

__all__ = ["all_scenes", "identity_of", "resolve"]

_ASKED = {"dataset", "samples", "seed", "topology", "formation", "rig", "weather"}
_TOLD_VERSIONS = ("uavsim", "carla", "airsim", "numpy", "opencv-python-headless")


def resolve(request: Request) -> Job:
    """Decide everything.

    Raises:
        InputError: a name, key, number or flight that is not possible; one line, nothing was written.
    """
    wanted = parse_numbers(request.scenes, what="--scenes") if request.scenes else None
    towns = request.towns or dataset_towns(request.dataset)
    plans = [plan for town in towns for plan in _planned(request, town, _numbers_of(request, town, towns, wanted))]
    if not plans:
        raise InputError(f"--scenes {request.scenes}: no scene of these numbers in {', '.join(towns)}")
    _check_airsim(request, plans[0])
    scenes = tuple(SceneRef(check_name(p.scene_name, what="scene"), p.scene_index, p.town.name) for p in plans)
    town_of = {scene.name: scene for scene in scenes}
    identity = identity_of(request)
    return Job(
        dataset=plans[0].dataset,
        seed=int(identity["seed"]),
        topology=plans[0].topology,
        identity=identity,
        scenes=scenes,
        samples=plans[0].samples,
        images_per_scene=len(plans[0].capture_steps) * len(plans[0].channels),
        plan_of=partial(_plan_of, request, town_of),
    )


def _numbers_of(
    request: Request, town: str, towns: Sequence[str], wanted: tuple[int, ...] | None
) -> tuple[int, ...] | None:
    """Return the numbers that fall to one town; a single town is given all of them, and refuses strangers itself."""
    if wanted is None or len(towns) == 1:
        return wanted
    allowed = numbering.town_scenes(Library.of().dataset(request.dataset), town).allowed
    return tuple(number for number in wanted if number in allowed)


def _planned(request: Request, town: str, numbers: tuple[int, ...] | None) -> list[ScenePlan]:
    if numbers == ():
        return []
    return plan_scenes(
        request.dataset,
        town=town,
        scenes=numbers,
        samples=request.samples,
        seed=request.seed,
        topology=request.topology,
        formation=request.formation,
        rig=request.rig,
        weather=request.weather,
    )


def _plan_of(request: Request, scenes: dict[str, SceneRef], scene: str) -> ScenePlan:
    """Plan one scene again when its turn comes: a thousand trajectories need not wait in memory."""
    ref = scenes[scene]
    return _planned(request, ref.town, (ref.index,))[0]


def _check_airsim(request: Request, plan: ScenePlan) -> None:
    """Refuse a set-up that flies AirSim where no AirSim is named.

    Raises:
        InputError: an attached or started simulator without an AirSim port.
    """
    if plan.topology == "carla":
        return
    for simulator in request.run_config().simulators:
        if simulator.kind != "mock" and simulator.airsim_port is None:
            example = f"--simulator {simulator.host}:{simulator.carla_port}:41451"
            raise InputError(f"topology {plan.topology} needs AirSim: name its port, as {example}")


def identity_of(request: Request) -> JsonDict:
    """Name the data set: what was resolved from YAML and options, and the seed; scene numbers and simulators are not in it."""
    loaded = Library.of().dataset(request.dataset)
    model = loaded.model
    seed = model.seed if request.seed is None else request.seed
    config = model.model_dump(mode="json", exclude={"description"}) | {
        "dataset": loaded.name,
        "seed": seed,
        "samples": request.samples or model.samples,
        "topology": request.topology or model.topology,
        **{key: value for key in ("formation", "rig", "weather") if (value := getattr(request, key)) is not None},
    }
    config["labels"]["label_parked"] = None  # a key until 2026-11: data sets begun with it keep their fingerprint
    versions = {name: importlib.metadata.version(name) for name in _TOLD_VERSIONS} | {
        "python": platform.python_version()
    }
    return {
        "dataset": loaded.name,
        "seed": seed,
        "fingerprint": fingerprint(config, seed=seed),
        "version": model.version,
        "config": config,
        "versions": versions,
        "request": request.model_dump(mode="json", include=_ASKED),
    }


def all_scenes(dataset: str) -> tuple[SceneRef, ...]:
    """Name every scene that a data set makes when no numbers are asked for; plans nothing."""
    loaded = Library.of().dataset(dataset)
    return tuple(
        SceneRef(f"scene_{number:0{loaded.model.scene_digits}d}", number, town)
        for town in loaded.model.towns
        for number in numbering.town_scenes(loaded, town).numbers
    )
