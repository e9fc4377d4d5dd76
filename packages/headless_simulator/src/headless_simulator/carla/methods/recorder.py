"""Methods about recordings: record, query, replay."""

from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeAlias

import numpy as np

from headless_simulator.carla.clock import Clock
from headless_simulator.carla.method import CarlaMethod, Traits, always, declared
from headless_simulator.carla.recorder import files, query
from headless_simulator.carla.recorder.playback import Playback
from headless_simulator.carla.recorder.replay import Replayer, ReplayRequest
from headless_simulator.carla.recorder.writer import Recorder
from headless_simulator.carla.values import ActorId, Transform
from headless_simulator.errors import BadArgument, CallRefused
from headless_simulator.rpc.arguments import Flag, Number, Reads, Text, short_repr, text
from headless_simulator.world.pose import Pose6

_KINDS: Final = "hvwtoa"
_OFFSET: Final[Pose6] = (-10.0, 0.0, 5.0, -25.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class RecorderContext:
    """The state used by these methods."""

    clock: Clock
    recorder: Recorder
    replayer: Replayer
    playback: Playback


def _actor_kind(sent: Any, name: str) -> str:
    """Read a kind of actor; the wire carries a C++ char, a number or a text."""
    kind = chr(sent & 0x7F) if isinstance(sent, int) and not isinstance(sent, bool) else text(sent, name)
    if len(kind) != 1 or kind not in _KINDS:
        raise BadArgument(f"an actor's kind must be one of {', '.join(_KINDS)}, not {short_repr(kind)}")
    return kind


ActorKind: TypeAlias = Annotated[str, Reads(_actor_kind)]


def start_recorder(context: RecorderContext, name: Text, additional_data: Flag = False) -> str:
    """Record to a file from the next tick on; returns its path."""
    recording_path = files.resolve(name)
    context.replayer.stop(keep_actors=False)
    context.recorder.start(recording_path, additional=additional_data)
    return str(recording_path.path)


def stop_recorder(context: RecorderContext) -> None:
    """End the recording, if there is one."""
    context.recorder.stop()


def show_recorder_file_info(_context: RecorderContext, name: Text, show_all: Flag = False) -> str:
    """Return the events of each frame, or all its packets."""
    return query.file_info(files.resolve(name), show_all=show_all)


def show_recorder_collisions(_context: RecorderContext, name: Text, first: ActorKind, second: ActorKind) -> str:
    """Return collisions between two kinds of actors."""
    return query.collisions(files.resolve(name), first, second)


def show_recorder_actors_blocked(
    _context: RecorderContext, name: Text, min_time: Number = 30.0, min_distance: Number = 10.0
) -> str:
    """Return actors that moved less than ``min_distance`` (cm) for ``min_time`` (s)."""
    return query.blocked(files.resolve(name), min_time, min_distance)


def replay_file(  # noqa: PLR0917  (in the wire's order)
    context: RecorderContext,
    name: Text,
    start: Number,
    duration: Number,
    follow_id: ActorId = 0,
    replay_sensors: Flag = False,
    offset: Transform = _OFFSET,
) -> str:
    """Replay a recording from ``start`` (s; negative: from the end) for ``duration`` (s; 0: to the end).

    The spectator follows the actor whose recorded id is ``follow_id``, at ``offset`` in that actor's frame.
    """
    request = ReplayRequest(start, duration, follow_id, np.array(offset), replay_sensors)
    return context.playback.play(files.resolve(name), request)


def stop_replayer(context: RecorderContext, keep_actors: Flag = False) -> None:
    """End the replay, and keep or destroy its actors."""
    context.replayer.stop(keep_actors=keep_actors)


def set_replayer_time_factor(context: RecorderContext, factor: Number) -> None:
    """Set the recorded seconds per simulated second."""
    if factor < 0:
        raise CallRefused(f"a replay's time factor must not be negative, but is {factor:g}")
    context.replayer.time_factor = factor


def set_replayer_ignore_hero(context: RecorderContext, ignore: Flag) -> None:
    """Exclude vehicles with the role ``hero`` from later replays."""
    context.replayer.ignore_hero = ignore


def set_replayer_ignore_spectator(context: RecorderContext, ignore: Flag) -> None:
    """Exclude the spectator from later replays."""
    context.replayer.ignore_spectator = ignore


# these read files of any length, so the world continues meanwhile; a replay takes the lock itself
_READS_FILE: Final = Traits(is_locked=False)
METHODS: Final[tuple[CarlaMethod[RecorderContext], ...]] = declared(
    __name__,
    show_recorder_file_info=_READS_FILE,
    show_recorder_collisions=_READS_FILE,
    show_recorder_actors_blocked=_READS_FILE,
    replay_file=Traits(is_locked=False, advances=always),
)
