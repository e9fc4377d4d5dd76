"""Start the headless simulator from the command line."""

import argparse
import json
import os
import signal
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NoReturn

from headless_simulator.airsim import AirSimServer, AirSimSettings, read_settings
from headless_simulator.airsim.dialects import DIALECTS
from headless_simulator.airsim.fault_injection import AirSimFaults
from headless_simulator.behaviours import BEHAVIOURS, Behaviours, behaviours_of
from headless_simulator.carla.server import CarlaServer
from headless_simulator.carla.versions import CARLA_0_9_16, VERSIONS
from headless_simulator.errors import ClientError
from headless_simulator.faults import Faults, read_faults
from headless_simulator.jit import cache_folder
from headless_simulator.models.calibration import calibrate
from headless_simulator.models.library import ModelLibrary
from headless_simulator.render import LateRenderer, Renderer
from headless_simulator.rendering import Rendering
from headless_simulator.scene import Mesh, Town
from headless_simulator.terminal import note
from headless_simulator.towns.library import TownLibrary, opendrive_files
from headless_simulator.warm_up import warm_up
from headless_simulator.world.game_thread import EngineRules, GameThread
from headless_simulator.world.world import World


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Report a usage error in one line and exit with 2."""
        note(f"{message}; --help lists the options")
        sys.exit(2)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    p = _Parser(
        prog="headless-simulator", description="A headless simulator that speaks CARLA's and AirSim's protocols."
    )
    p.add_argument(
        "--carla-port", type=_port, default=2000, help="RPC port; the next port is for streams; 0: free ports"
    )
    p.add_argument("--airsim-port", type=_port, default=41451, help="AirSim's port; 0: a free port")
    p.add_argument(
        "--carla-version",
        choices=tuple(VERSIONS),
        default=os.environ.get("HEADLESS_SIMULATOR_CARLA_VERSION", CARLA_0_9_16.number),
        help="CARLA version to emulate",
    )
    p.add_argument("--no-airsim", action="store_true", help="serve CARLA only")
    p.add_argument("--compile-only", action="store_true", help="compile missing kernels and exit")
    p.add_argument("--write-xodr", type=Path, metavar="FILE", help="write the town's OpenDRIVE map and exit")
    where = p.add_mutually_exclusive_group()
    where.add_argument("--town", default="Town10HD", help="name of a built-in town or of a file in --maps")
    where.add_argument("--xodr", type=Path, help="serve this OpenDRIVE file")
    p.add_argument("--maps", type=Path, metavar="FOLDER", help="serve each OpenDRIVE file of this folder as a town")
    p.add_argument("--seed", type=int, default=0, help="seed of the procedural towns")
    p.add_argument(
        "--calibration", type=Path, metavar="FILE", help="take actor sizes from the answers.json of `uavsim conform`"
    )
    p.add_argument("--faults", type=Path, help="YAML file of faults to inject")
    p.add_argument(
        "--behaviour",
        action="append",
        default=os.environ.get("HEADLESS_SIMULATOR_BEHAVIOUR", "").split(),
        metavar="NAME=VALUE",
        help="enable a behaviour of the real server: unreal for all, or one of "
        + "; ".join(f"{name}={'|'.join(one.values)}" for name, one in BEHAVIOURS.items()),
    )
    p.add_argument("--render", choices=("full", "flat"), default="full", help="flat: images encode camera and frame")
    p.add_argument("--render-latency", type=_milliseconds, default=0.0, metavar="MS", help="pause per camera image, ms")
    p.add_argument("--airsim-settings", type=Path, help="AirSim's settings.json")
    p.add_argument("--separate-worlds", action="store_true", help="fly AirSim's drones in a separate world")
    p.add_argument("--airsim-dialect", choices=tuple(DIALECTS), default="airsim", help="AirSim fork to emulate")
    p.add_argument(
        "--merged-engine",
        choices=("carla", "free"),
        default="carla",
        help="carla: AirSim calls wait for the next tick; free: the server answers them immediately",
    )
    p.add_argument(
        "--merged-assume",
        action="append",
        default=[],
        metavar="RULE=yes|no",
        help="set a rule for ticks during simPause",
    )
    return p


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number < 65535:
        raise argparse.ArgumentTypeError(f"port {text} must be from 0 to 65534")
    return number


def _milliseconds(text: str) -> float:
    number = float(text)
    if not 0.0 <= number < 60_000.0:
        raise argparse.ArgumentTypeError(f"pause {text} must be from 0 to below 60000 ms")
    return number


_MOST_RENDERERS: Final = 6


class _Renderers:
    """Renderers of the last loaded towns, one per mesh: a town and its ``_Opt`` variant share one."""

    def __init__(self, models: ModelLibrary) -> None:
        self.models = models
        self._by_mesh: OrderedDict[Mesh, LateRenderer] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, town: Town) -> LateRenderer:
        with self._lock:
            if town.mesh not in self._by_mesh:
                self._by_mesh[town.mesh] = LateRenderer(lambda: Renderer(town.mesh, self.models, town.signals))
            self._by_mesh.move_to_end(town.mesh)
            if len(self._by_mesh) > _MOST_RENDERERS:
                self._by_mesh.popitem(last=False)
            return self._by_mesh[town.mesh]


def _compile() -> None:
    is_first = not any(cache_folder().rglob("*.nbi"))  # numba's index files
    if is_first:
        note("the first start compiles the kernels, once for this account: a minute or two")
    warm_up(in_two_processes=is_first)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until SIGTERM or SIGINT."""
    options = parser().parse_args(arguments)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # before it serves, a signal ends the process at once
    if options.compile_only:
        _compile()
        return
    try:
        if options.calibration:
            note(f"{calibrate(options.calibration)} bodies have the sizes of {options.calibration}")
        faults = read_faults(options.faults) if options.faults else Faults()
        behaviours = behaviours_of(options.behaviour)
        settings = read_settings(options.airsim_settings.read_text("utf-8") if options.airsim_settings else "{}")
        library = TownLibrary(seed=options.seed, files=opendrive_files(options.maps) if options.maps else None)
        if options.write_xodr:
            options.write_xodr.write_text(library.town(options.town).opendrive, "utf-8")
            return
        town = library.open_file(options.xodr) if options.xodr else library.town(options.town)
        _compile()
        renderers = _Renderers(ModelLibrary())
        carla, airsim = _servers(options, town, library, faults, settings, renderers=renderers, behaviours=behaviours)
    except (ClientError, ValueError, OSError) as problem:
        note(str(problem))
        sys.exit(2)
    ports = {"carla": _listen("--carla-port", lambda: carla.start(options.carla_port))}
    if airsim is not None:
        ports["airsim"] = _listen("--airsim-port", airsim.start)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    sys.stdout.write(json.dumps(ports) + "\n")
    sys.stdout.flush()
    stop.wait()
    for report in (carla.report(), airsim.report() if airsim is not None else "", faults.report()):
        if report:
            note(report)
    os._exit(0)  # client threads may be in any state; the process's end closes the ports


def _listen(option: str, start: Callable[[], int]) -> int:
    """Start a server and return its port; exit with 3 if the port cannot be bound."""
    try:
        return start()
    except OSError as problem:
        note(f"{problem.strerror or problem}; end the program there, or choose another port: {option} (0: any)")
        sys.exit(3)


def _servers(
    options: argparse.Namespace,
    town: Town,
    library: TownLibrary,
    faults: Faults,
    settings: AirSimSettings,
    *,
    renderers: _Renderers,
    behaviours: Behaviours,
) -> tuple[CarlaServer, AirSimServer | None]:
    models = renderers.models
    world = World(town, models=models, renderer_of=renderers)
    rules = EngineRules(waits_for_tick=options.merged_engine == "carla" and not options.separate_worlds)
    world.game_thread = GameThread(rules.assuming(options.merged_assume))
    rendering = Rendering(flat=options.render == "flat", latency_s=options.render_latency / 1000)
    carla = CarlaServer(
        world,
        towns=library,
        faults=faults,
        rendering=rendering,
        behaviours=behaviours,
        version=VERSIONS[options.carla_version],
    )
    if options.no_airsim:
        return carla, None
    sky = World(town, models=models, renderer_of=renderers) if options.separate_worlds else world
    airsim = AirSimServer(
        sky,
        settings,
        port=options.airsim_port,
        faults=AirSimFaults(faults),
        rendering=rendering,
        game_thread=sky.game_thread,
        dialect=DIALECTS[options.airsim_dialect],
        behaviours=behaviours,
    )
    return carla, airsim
