"""RPC methods of the recorder: record, look into recordings, replay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from headless_simulator.carla import values
from headless_simulator.carla.recorder import files, query
from headless_simulator.carla.recorder.replay import ReplayRequest
from headless_simulator.carla.registry import method
from headless_simulator.carla.values import BadArgument, CallFailed

if TYPE_CHECKING:
    from headless_simulator.carla.server import CarlaServer

# these read files of any length, so the world goes on meanwhile; a replay stops it by itself
UNLOCKED: Final = frozenset(
    {"show_recorder_file_info", "show_recorder_collisions", "show_recorder_actors_blocked", "replay_file"}
)
_KINDS: Final = "hvwtoa"
_OFFSET: Final = [[-10.0, 0.0, 5.0], [-25.0, 0.0, 0.0]]


@method("start_recorder")
def start_recorder(server: CarlaServer, name: str, additional_data: bool = False) -> str:
    """Record to a file from the next tick on; returns where it is."""
    path = files.path_of(values.text(name))
    server.replayer.stop(keep_actors=False)
    server.recorder.start(path, additional=values.flag(additional_data))
    return str(path)


@method("stop_recorder", void=True)
def stop_recorder(server: CarlaServer) -> None:
    """End the recording, if there is one."""
    server.recorder.stop()


@method("show_recorder_file_info")
def show_recorder_file_info(_server: CarlaServer, name: str, show_all: bool = False) -> str:
    """Events of each frame, or everything."""
    return query.file_info(files.path_of(values.text(name)), show_all=values.flag(show_all))


@method("show_recorder_collisions")
def show_recorder_collisions(_server: CarlaServer, name: str, first: Any, second: Any) -> str:
    """Collisions between two kinds of actors."""
    return query.collisions(files.path_of(values.text(name)), _kind(first), _kind(second))


@method("show_recorder_actors_blocked")
def show_recorder_actors_blocked(
    _server: CarlaServer, name: str, min_time: float = 30.0, min_distance: float = 10.0
) -> str:
    """Actors that moved less than ``min_distance`` (cm) for ``min_time`` (s)."""
    times = values.number(min_time, what="min_time"), values.number(min_distance, what="min_distance")
    return query.blocked(files.path_of(values.text(name)), *times)


@method("replay_file")
def replay_file(server: CarlaServer, name: str, start: float, duration: float, *rest: Any) -> str:
    """Replay a recording from ``start`` (s; negative: from the end) for ``duration`` (s; 0: to the end).

    ``rest`` is the recorded id of the actor that the spectator follows, whether sensors are replayed as well, and where
    the spectator is in the followed actor's frame.
    """
    follow_id, replay_sensors, offset = (*rest, *(0, False, _OFFSET)[len(rest) :])[:3]
    request = ReplayRequest(
        values.number(start, what="start"),
        values.number(duration, what="duration"),
        values.actor_id(follow_id),
        np.array(values.transform(offset)),
        values.flag(replay_sensors),
    )
    path = files.path_of(values.text(name))
    with server.standing_still():
        server.recorder.stop()
    return server.replayer.play(path, request)


@method("stop_replayer", void=True)
def stop_replayer(server: CarlaServer, keep_actors: bool = False) -> None:
    """End the replay; its actors stay or go."""
    server.replayer.stop(keep_actors=values.flag(keep_actors))


@method("set_replayer_time_factor", void=True)
def set_replayer_time_factor(server: CarlaServer, factor: float) -> None:
    """Recorded seconds that pass in a simulated one, from now on."""
    if values.number(factor, what="time factor") < 0:
        raise CallFailed(f"a time factor of {factor:g} is negative: a replay runs forwards only")
    server.replayer.time_factor = float(factor)


@method("set_replayer_ignore_hero", void=True)
def set_replayer_ignore_hero(server: CarlaServer, ignore: bool) -> None:
    """Leave vehicles with the role ``hero`` out of the next replays."""
    server.replayer.ignore_hero = values.flag(ignore)


@method("set_replayer_ignore_spectator", void=True)
def set_replayer_ignore_spectator(server: CarlaServer, ignore: bool) -> None:
    """Leave the spectator alone in the next replays."""
    server.replayer.ignore_spectator = values.flag(ignore)


def _kind(value: Any) -> str:
    """Read a kind of actor; the wire carries a C++ char, a number or a text."""
    kind = chr(value & 0x7F) if isinstance(value, int) and not isinstance(value, bool) else values.text(value)
    if len(kind) != 1 or kind not in _KINDS:
        raise BadArgument(f"an actor's kind is one of {', '.join(_KINDS)}, not {kind!r:.80}")
    return kind
