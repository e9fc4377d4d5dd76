"""Methods about the server: version, episode, clock, blueprint library."""

from dataclasses import dataclass
from typing import Any, Final

from headless_simulator.carla.actor_wire import actor_wire
from headless_simulator.carla.blueprints import definitions
from headless_simulator.carla.caller import CALLER
from headless_simulator.carla.clock import Clock
from headless_simulator.carla.episode import Episode
from headless_simulator.carla.load_silence import LoadSilence
from headless_simulator.carla.method import CarlaMethod, Traits, always, declared
from headless_simulator.carla.sensors.hub import Sensors
from headless_simulator.carla.streams import EPISODE_STREAM, Streams
from headless_simulator.faults import Faults
from headless_simulator.rpc.arguments import Array, Integer, Number
from headless_simulator.world.world import World


@dataclass(frozen=True, slots=True)
class EpisodeContext:
    """The state used by these methods."""

    world: World
    episode: Episode
    clock: Clock
    streams: Streams
    sensors: Sensors
    silence: LoadSilence
    faults: Faults


def version(context: EpisodeContext) -> str:
    """Return the protocol version."""
    return context.faults.version(context.streams.version.number)


def get_episode_info(context: EpisodeContext) -> list[Any]:
    """Return episode number and snapshot token; after a load this call of the loader ends the silence."""
    caller = CALLER.get()
    context.episode.watchers.add(caller)
    number = context.silence.episode_for(caller)
    context.silence.end(caller)
    return [number, [context.streams.token(EPISODE_STREAM)]]


def get_sensor_token(context: EpisodeContext, stream_id: Integer) -> list[Any]:
    """Return a sensor's stream token; the client connects next."""
    number = stream_id & 0xFFFFFFFF
    if context.sensors.has_stream(number):
        context.streams.expect(number)
    return [context.streams.token(number)]


def get_episode_settings(context: EpisodeContext) -> list[Any]:
    """Return the clock's settings."""
    return context.episode.settings.wire()


def set_episode_settings(context: EpisodeContext, settings: Array) -> int:
    """Change the clock's settings; returns an already sent frame."""
    context.episode.settings = context.episode.settings.changed(settings)
    return context.world.frame


def tick_cue(context: EpisodeContext) -> int:
    """Advance by one tick if clients own the clock."""
    if context.episode.settings.synchronous:
        return context.clock.tick()
    return context.world.frame + 1


def get_actor_definitions(context: EpisodeContext) -> list[Any]:
    """Return the blueprint library."""
    return definitions(context.streams.version)


def get_spectator(context: EpisodeContext) -> list[Any]:
    """Return the spectator; its attribute ``simulator`` identifies the headless simulator."""
    return actor_wire(context.world.spectator, context.streams)


def get_imui_gravity(context: EpisodeContext) -> float:
    """Return the gravity that IMUs add, m/s2."""
    return context.episode.imu_gravity_mps2


def set_imui_gravity(context: EpisodeContext, gravity: Number) -> None:
    """Set the gravity that IMUs add, m/s2."""
    context.episode.imu_gravity_mps2 = gravity


_ADVANCES: Final = Traits(is_locked=False, advances=always)
METHODS: Final[tuple[CarlaMethod[EpisodeContext], ...]] = declared(
    __name__, get_episode_info=Traits(is_locked=False), set_episode_settings=_ADVANCES, tick_cue=_ADVANCES
)
