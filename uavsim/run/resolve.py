"""Turn a request into a job: look up all names and plan all scenes before the start."""

import importlib.metadata
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from uavsim.config.backends import AIRSIM, CARLA, HEADLESS, Backend, Server, backend_of
from uavsim.config.dataset import DatasetConfig
from uavsim.config.explain import key
from uavsim.config.library import Library
from uavsim.config.load import Loaded
from uavsim.config.overrides import Overrides
from uavsim.config.run import SimulatorConfig
from uavsim.config.stored import CONFIG_FILE, pack
from uavsim.environment import DISTRIBUTION
from uavsim.errors import InputError
from uavsim.files.parse import parse_json, read_regular
from uavsim.plan import DatasetPlanner, numbering
from uavsim.plan.weather import PRESETS
from uavsim.records.plan import ScenePlan
from uavsim.records.sensors import SensorSpec
from uavsim.run.job import Job, PackedPlan, SceneRef
from uavsim.run.on_top import NOTHING, LabelFolder, OnTop
from uavsim.run.request import Request
from uavsim.store.identity import IDENTITY, fingerprint, read_identity
from uavsim.store.layout import check_name
from uavsim.store.local import LocalOutput
from uavsim.supervise.clients import check_clients
from uavsim.typing import JsonDict

_ASKED = {"dataset", *Overrides.model_fields}
_VERSIONS = ("uavsim", "carla", "airsim", "numpy", "opencv-python-headless")


def resolve(request: Request, on_top: OnTop = NOTHING) -> Job:
    """Turn a request into a job.

    Args:
        request: the request.
        on_top: functions of higher packages.

    Raises:
        InputError: a name, key, number or flight is invalid; nothing was written.
    """
    planner = DatasetPlanner.open(request.dataset, overrides=request)
    numbers = numbering.parse_numbers(request.scenes) if request.scenes else None
    towns = request.towns or tuple(planner.dataset.model.towns)
    first, scenes, packed, sensors = None, list[SceneRef](), dict[str, PackedPlan](), dict[str, SensorSpec]()
    for plan in _plans(request, planner, towns, numbers, on_top):
        first = first or plan
        scenes.append(SceneRef(check_name(plan.scene_name, what="scene"), plan.scene_index, plan.town.name))
        packed[plan.scene_name] = PackedPlan.of(plan)
        sensors |= {sensor.channel: sensor.spec for sensor in plan.sensors}
    if first is None:
        raise InputError(f"--scenes {request.scenes}: no scene of these numbers in {', '.join(towns)}")
    _check_simulators(request, backend_of(first.topology))
    identity = _identity(request, planner.named)
    return Job(
        dataset=first.dataset,
        seed=int(identity["seed"]),
        topology=first.topology,
        identity=identity,
        scenes=tuple(scenes),
        samples=first.samples,
        images_per_scene=first.image_count,
        plans=packed,
        configuration=_configuration(request, planner, towns),
        further=_further_labels(request, planner.named, sensors, on_top),
    )


def _further_labels(
    request: Request, loaded: Loaded[DatasetConfig], sensors: Mapping[str, SensorSpec], on_top: OnTop
) -> dict[str, LabelFolder]:
    """Return the functions that label the finished dataset; refuse functions that cannot run here."""
    if (settings := loaded.model.labels.occupancy) is None:
        return {}
    try:
        if not request.output().is_local:
            raise InputError(f"voxels need an output folder of this machine, not {request.out}")
        assert on_top.voxels is not None, "the flow sets it"
        return {"occupancy": on_top.voxels(settings, sensors)}
    except InputError as error:
        raise loaded.error(("labels", "occupancy"), str(error)) from error


def _configuration(request: Request, planner: DatasetPlanner, towns: Sequence[str]) -> JsonDict:
    """Return all YAML texts of the dataset's towns, to regenerate it on any machine."""
    if Path(request.dataset).name == CONFIG_FILE and request.replay is None:
        return {}
    for name in _drawn_weathers(request):
        planner.library.weather(name, presets=tuple(PRESETS))
    for town in dict.fromkeys((*towns, *planner.dataset.model.towns)):
        try:
            planner.read_town(town)
        except InputError:
            if town in towns:
                raise
    current = pack(request.dataset, planner.library.used)
    if request.replay is None:
        return current
    recorded: JsonDict = parse_json(read_regular(Path(request.replay.folder) / ".uavsim" / CONFIG_FILE))
    return recorded | {"files": {**recorded["files"], **current["files"]}}


def _drawn_weathers(request: Request) -> tuple[str, ...]:
    """Return the weathers of the request's skin."""
    skin = request.replay.skin if request.replay is not None else None
    return skin.skin.weather.names if skin is not None and skin.skin.weather is not None else ()


def _plans(
    request: Request, planner: DatasetPlanner, towns: Sequence[str], requested: tuple[int, ...] | None, on_top: OnTop
) -> Iterator[ScenePlan]:
    """Plan the requested scenes; a single town checks all numbers itself."""
    for town in towns:
        numbers = requested
        if requested is not None and len(towns) > 1:
            allowed = numbering.town_scenes(planner.dataset, town).allowed
            numbers = tuple(number for number in requested if number in allowed)
        for plan in planner.plans(town, numbers) if numbers != () else ():
            if request.replay is not None:
                assert on_top.replayed is not None, "the flow sets it"
                plan = on_top.replayed(plan, request)
            yield plan


def _check_simulators(request: Request, backend: Backend) -> None:
    """Refuse a backend without the addresses of all its servers, or without its client packages.

    Raises:
        InputError: the message names the simulator's server, or says how to install the client.
    """
    simulators = request.run_config().simulators
    for simulator in simulators:
        words = " ".join((*simulator.command, *simulator.arguments))
        filled_in = {server.name for server in backend.servers if f"{{{server.name}_port}}" in words}
        known = {*simulator.ports, *filled_in, *({CARLA.name} if simulator.kind == "docker" else ())}
        missing = backend.missing(HEADLESS if simulator.kind == "mock" else known)
        if missing:
            ports = ":".join(_port_word(server, simulator) for server in backend.servers)
            raise InputError(
                f"topology {backend.topology} needs {missing[0].title}: name its port, as --simulator "
                f"{simulator.host}:{ports}, or in the run's ports"
            )
    for python in dict.fromkeys(simulator.client_python or backend.python for simulator in simulators):
        check_clients(backend, python=python)


def _port_word(server: Server, simulator: SimulatorConfig) -> str:
    port = simulator.ports.get(server.name) or server.default_port
    return str(port) if server.name in (CARLA.name, AIRSIM.name) else f"{server.name}={port}"


def identity_of(request: Request) -> JsonDict:
    """Return the dataset's identity: configuration, options and seed, without scene numbers and simulators."""
    return _identity(request, Library.of().dataset(request.dataset))


def _identity(request: Request, loaded: Loaded[DatasetConfig]) -> JsonDict:
    model = loaded.model
    seed = model.seed if request.seed is None else request.seed
    config = model.model_dump(mode="json", exclude={"description"}) | {
        "dataset": loaded.name,
        "seed": seed,
        "samples": request.samples or model.samples,
        "topology": request.topology or model.topology,
        **{key: value for key in ("formation", "rig", "weather") if (value := getattr(request, key)) is not None},
    }
    if loaded.draws:
        config["drawn"] = {key(key_path): asdict(law) for key_path, law in loaded.draws.items()}
    if request.replay is not None and request.replay.is_changed:
        changes: JsonDict = {"sensors": list(request.replay.sensors), "hide": list(request.replay.hide)}
        if request.replay.skin is not None:
            changes["skin"] = request.replay.skin.model_dump(mode="json")
        config["replay"] = {"of": _recorded(request.replay.folder)["fingerprint"], **changes}
    clients = {client for server in backend_of(config["topology"]).servers for client in server.clients}
    used = (name for name in _VERSIONS if name != "airsim" or name in clients)
    versions = {name: installed_version(name) for name in used} | {"python": platform.python_version()}
    return {
        "dataset": loaded.name,
        "seed": seed,
        "fingerprint": fingerprint(config, seed=seed),
        "version": model.version,
        "config": config,
        "versions": versions,
        "request": request.model_dump(
            mode="json", include=_ASKED | ({"replay"} if request.replay is not None else set())
        ),
    }


def _recorded(folder: str) -> JsonDict:
    """Return the identity of a replayed dataset."""
    identity = read_identity(LocalOutput(Path(folder)))
    if identity is None:
        raise InputError(f"{folder}: not a uavsim dataset (no {IDENTITY})")
    return identity


def installed_version(package: str) -> str:
    """Return a package's version, or ``not installed``: AirSim's client is optional."""
    try:
        return importlib.metadata.version(DISTRIBUTION if package == "uavsim" else package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def all_scenes(dataset: str) -> tuple[SceneRef, ...]:
    """Return all default scenes of a dataset without planning."""
    loaded = Library.of().dataset(dataset)
    return tuple(
        SceneRef(f"scene_{number:0{loaded.model.scene_digits}d}", number, town)
        for town in loaded.model.towns
        for number in numbering.town_scenes(loaded, town).numbers
    )
