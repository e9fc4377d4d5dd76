"""Methods that enable G-buffers and return their stream tokens."""

from typing import Final

from headless_simulator.carla.lifecycle import ActorLifecycle
from headless_simulator.carla.method import CarlaMethod, declared
from headless_simulator.carla.sensors import cameras, gbuffers
from headless_simulator.carla.values import ActorId
from headless_simulator.errors import CallRefused
from headless_simulator.rpc.arguments import Flag, Integer
from headless_simulator.world.actors import Actor


def _camera(lifecycle: ActorLifecycle, actor_id: int) -> Actor:
    actor = lifecycle.world.actor(actor_id)
    if actor.blueprint not in cameras.IMAGES:
        raise CallRefused(f"actor {actor_id} ({actor.blueprint}) has no G-buffers; it is not a camera")
    return actor


def enable_gbuffers(lifecycle: ActorLifecycle, actor_id: ActorId, on: Flag) -> None:
    """Switch a camera's G-buffers on or off."""
    _camera(lifecycle, actor_id).extra[gbuffers.ENABLED] = on


def are_gbuffers_enabled(lifecycle: ActorLifecycle, actor_id: ActorId) -> bool:
    """Return whether a camera sends G-buffers."""
    return bool(_camera(lifecycle, actor_id).extra.get(gbuffers.ENABLED))


def get_gbuffer_token(lifecycle: ActorLifecycle, actor_id: ActorId, texture: Integer) -> bytes:
    """Return a G-buffer's stream token; clients call this before they connect and before they disconnect."""
    streams = _camera(lifecycle, actor_id).extra.setdefault(gbuffers.STREAMS, {})
    if texture not in gbuffers.SERVED:
        name = gbuffers.NAMES[texture] if 0 <= texture < len(gbuffers.NAMES) else texture
        served = ", ".join(gbuffers.NAMES[number] for number in gbuffers.SERVED)
        raise CallRefused(f"the headless simulator has no G-buffer {name}; it has {served}")
    if texture not in streams:
        streams[texture] = lifecycle.streams.new()
    if not lifecycle.streams.readers(streams[texture]):
        lifecycle.streams.expect(streams[texture])
    return lifecycle.streams.token(streams[texture])


METHODS: Final[tuple[CarlaMethod[ActorLifecycle], ...]] = declared(__name__)
