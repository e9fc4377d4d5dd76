"""The parts of one CARLA server, built once and passed to the code that needs them."""

from dataclasses import dataclass

from headless_simulator.behaviours import Behaviours
from headless_simulator.carla.clock import Clock
from headless_simulator.carla.episode import Episode
from headless_simulator.carla.lifecycle import ActorLifecycle
from headless_simulator.carla.load_silence import LoadSilence
from headless_simulator.carla.navigation import Navigation
from headless_simulator.carla.physics_control import physics_control
from headless_simulator.carla.recorder import engines
from headless_simulator.carla.recorder.playback import Playback
from headless_simulator.carla.recorder.replay import Replayer
from headless_simulator.carla.recorder.writer import Recorder
from headless_simulator.carla.sensors.hub import Sensors
from headless_simulator.carla.streams import Streams
from headless_simulator.carla.town_loader import TownLoader
from headless_simulator.carla.versions import CarlaVersion
from headless_simulator.faults import Faults
from headless_simulator.rendering import Rendering
from headless_simulator.rpc.call_counts import CallCounts
from headless_simulator.towns.library import TownLibrary
from headless_simulator.world.world import World


@dataclass(frozen=True, slots=True)
class CarlaContext:
    """All parts that CARLA's methods use; each method gets a subset."""

    world: World
    towns: TownLibrary
    faults: Faults
    behaviours: Behaviours
    episode: Episode
    streams: Streams
    sensors: Sensors
    lifecycle: ActorLifecycle
    recorder: Recorder
    replayer: Replayer
    clock: Clock
    loader: TownLoader
    silence: LoadSilence
    playback: Playback
    navigation: Navigation
    counts: CallCounts


def build_context(
    world: World,
    *,
    towns: TownLibrary,
    faults: Faults,
    rendering: Rendering,
    behaviours: Behaviours,
    version: CarlaVersion,
) -> CarlaContext:
    """Build the parts in the order of their dependencies, from the world outwards."""
    episode, streams = Episode(), Streams(version)
    sensors = Sensors(
        world, streams=streams, episode=episode, faults=faults, rendering=rendering, behaviours=behaviours
    )
    lifecycle = ActorLifecycle(world, streams=streams, sensors=sensors, faults=faults)
    recorder = Recorder(world, lambda actor: engines.from_wire(actor.actor_id, physics_control(world, actor.actor_id)))
    replayer = Replayer(lifecycle)
    silence = LoadSilence(world, streams)
    clock = Clock(
        world,
        episode=episode,
        streams=streams,
        sensors=sensors,
        recorder=recorder,
        replayer=replayer,
        silence=silence,
        faults=faults,
        behaviours=behaviours,
    )
    loader = TownLoader(
        world,
        towns=towns,
        episode=episode,
        clock=clock,
        sensors=sensors,
        recorder=recorder,
        replayer=replayer,
        silence=silence,
    )
    return CarlaContext(
        world=world,
        towns=towns,
        faults=faults,
        behaviours=behaviours,
        episode=episode,
        streams=streams,
        sensors=sensors,
        lifecycle=lifecycle,
        recorder=recorder,
        replayer=replayer,
        clock=clock,
        loader=loader,
        silence=silence,
        playback=Playback(world, clock=clock, loader=loader, recorder=recorder, replayer=replayer),
        navigation=Navigation(world),
        counts=CallCounts(),
    )
