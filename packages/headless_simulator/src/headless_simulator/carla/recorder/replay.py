"""Replay of a recording: its actors are spawned again and moved at each tick."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from headless_simulator.carla.lifecycle import ActorLifecycle
from headless_simulator.carla.recorder import layout
from headless_simulator.carla.recorder.layout import Damaged
from headless_simulator.carla.recorder.reader import Frame, Recording
from headless_simulator.carla.recorder.replay_actors import ReplayActors
from headless_simulator.scene import Float64
from headless_simulator.world.pose import compose

_NO_INTERPOLATION: Final = 2.0  # from this time factor on, as in CARLA
_EVENTS: Final = frozenset({layout.EVENT_ADD, layout.EVENT_DEL, layout.EVENT_PARENT})
_SLACK_S: Final = 1e-9  # sums of time steps are not exact


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """A client's request for a replay.

    Attributes:
        start_s: start time; negative: relative to the end.
        duration_s: duration in recorded time; 0: to the end.
        follow_id: recorded id of the actor that the spectator follows, or 0.
        offset: (6,) the spectator's pose in that actor's frame, metres and degrees.
        with_sensors: also spawn recorded sensors.
    """

    start_s: float
    duration_s: float
    follow_id: int
    offset: Float64
    with_sensors: bool


class OpenedRecording:
    """A recording read up to the start of its replay; read without a lock, because it may be long.

    Args:
        recording: the recording to replay.
        request: the client's request.

    Attributes:
        total_s: time of the last frame.
        start_s, stop_s: the replayed interval.
        damage: the defect after the last complete frame.
        event_frames: frames before ``start_s`` with spawns or destructions, reduced to these events.
        now: the last frame before the start, or None.
        frames: the following frames.
    """

    def __init__(self, recording: Recording, request: ReplayRequest) -> None:
        self.recording, self.request = recording, request
        self.total_s = total_s = recording.total_s()
        self.damage = recording.damage
        self.start_s = request.start_s if request.start_s >= 0 else max(0.0, total_s + request.start_s)
        self.stop_s = self.start_s + request.duration_s if request.duration_s > 0 else total_s
        self.event_frames: list[Frame] = []
        self.frames = recording.frames()
        self.now: Frame | None = None
        self.next: Frame | None = next(self.frames, None)
        while self.next is not None and self.next.elapsed_s <= min(self.start_s, self.stop_s) + _SLACK_S:
            self.now, self.next = self.next, next(self.frames, None)
            events = [packet for packet in self.now.packets if packet[0] in _EVENTS]
            if events:
                self.event_frames.append(replace(self.now, packets=events))


class Replayer:
    """Plays recordings, one at a time.

    Args:
        lifecycle: spawns actors; every method is called under the world's lock.

    Attributes:
        time_factor: recorded seconds per simulated second.
        ignore_hero, ignore_spectator: actors that the replay does not move.
        trouble: the defect that ended the last replay early, until the next one starts.
    """

    def __init__(self, lifecycle: ActorLifecycle) -> None:
        self._lifecycle = lifecycle
        self.time_factor, self.ignore_hero, self.ignore_spectator = 1.0, False, True
        self.trouble: str | None = None
        self._playback: _Playback | None = None

    @property
    def is_on(self) -> bool:
        """Return whether a replay runs."""
        return self._playback is not None

    def begin(self, opened: OpenedRecording) -> Iterator[str]:
        """Take over the actors; yields the lines of CARLA's answer."""
        recording, request, total_s = opened.recording, opened.request, opened.total_s
        yield f"Total time recorded: {total_s:g}"
        start_s, stop_s = opened.start_s, opened.stop_s
        span = f"from {start_s:g} s - {stop_s:g} s ({total_s:g} s)"
        yield f"Replaying {span} at {self.time_factor:.1f}x"
        if self.ignore_hero:
            yield "Ignoring Hero vehicle"
        if self.ignore_spectator:
            yield "Ignoring Spectator camera"
        self.trouble = opened.damage
        if self.trouble:
            yield f"File is damaged: {self.trouble}"
        actors = ReplayActors(
            self._lifecycle,
            version=recording.header.version,
            with_sensors=request.with_sensors,
            ignore_hero=self.ignore_hero,
            ignore_spectator=self.ignore_spectator,
        )
        self._playback = _Playback(opened, actors)
        self._lifecycle.world.signal_state.held = True
        actors.destroy_props()
        self._guard(lambda playback: playback.go_to(start_s, smooth=True))
        if actors.unknown:
            yield "Not in this simulator: " + ", ".join(sorted(actors.unknown))

    def advance(self, step_s: float) -> None:
        """Move the actors to their recorded poses; called before the world's step."""
        smooth = self.time_factor < _NO_INTERPOLATION
        self._guard(lambda playback: playback.go_to(playback.time_s + step_s * self.time_factor, smooth=smooth))
        if self._playback is not None and self._playback.is_over:
            self.stop(keep_actors=True)

    def _guard(self, act: Callable[[_Playback], None]) -> None:
        """End the replay of a damaged recording without stopping the clock."""
        if self._playback is None:
            return
        try:
            act(self._playback)
        except Damaged as problem:
            self.trouble = str(problem)
            self.stop(keep_actors=True)

    def stop(self, *, keep_actors: bool) -> None:
        """End the replay: keep its vehicles at rest with physics on, or destroy the spawned actors."""
        if self._playback is not None:
            self._playback.close(keep_actors=keep_actors)
            self._playback = None
            self._lifecycle.world.signal_state.held = False

    def forget(self) -> None:
        """End the replay together with its world."""
        if self._playback is not None:
            self._playback.recording.close()
            self._playback = None


class _Playback:
    """A running replay."""

    def __init__(self, opened: OpenedRecording, actors: ReplayActors) -> None:
        self.recording, self._request, self._stop_s = opened.recording, opened.request, opened.stop_s
        self._actors = actors
        self.time_s = 0.0
        self._event_frames, self._is_new = opened.event_frames, True
        self._frames, self._now, self._next = opened.frames, opened.now, opened.next
        self._from: dict[int, Float64] = {}
        self._to: dict[int, Float64] = {}

    @property
    def is_over(self) -> bool:
        """Return whether the requested interval is complete."""
        return self._next is None or self.time_s >= self._stop_s - _SLACK_S

    def go_to(self, time_s: float, *, smooth: bool) -> None:
        """Show the recording at a time; ``smooth`` interpolates between frames.

        Raises:
            Damaged: the recording cannot be read up to that time.
        """
        self.time_s = min(time_s, self._stop_s)
        passed = self._is_new and self._now is not None
        for frame in self._event_frames if self._is_new else ():
            self._actors.enter_and_leave(frame)
        self._is_new = False
        while self._next is not None and self._next.elapsed_s <= self.time_s + _SLACK_S:
            self._now, self._next, passed = self._next, next(self._frames, None), True
            self._actors.enter_and_leave(self._now)
        if passed and self._now is not None:
            self._actors.take_states(self._now)
            self._from = self._poses(self._now)
            self._to = self._poses(self._next)
        share = self._share() if smooth else 0.0
        for actor_id, pose in self._from.items():
            to = self._to.get(actor_id)
            self._actors.set_pose(actor_id, pose if to is None or not share else _between(pose, to, share))
        self._follow()

    def _share(self) -> float:
        if self._now is None or self._next is None or self._next.elapsed_s <= self._now.elapsed_s:
            return 0.0
        share = (self.time_s - self._now.elapsed_s) / (self._next.elapsed_s - self._now.elapsed_s)
        return min(1.0, max(0.0, share))

    def _poses(self, frame: Frame | None) -> dict[int, Float64]:
        """Return (6,) poses, metres and degrees, by recorded id."""
        out: dict[int, Float64] = {}
        for number, data in frame.packets if frame else ():
            if number == layout.POSITION:
                rows = layout.rows_of(data, layout.POSITION_ROW, "a position packet")
                out.update(zip(rows["id"].tolist(), layout.poses(rows["location"], rows["rotation"]), strict=True))
        return out

    def _follow(self) -> None:
        followed = self._actors.pose_of(self._request.follow_id) if self._request.follow_id else None
        if followed is not None:
            self._actors.set_spectator_pose(compose(followed, self._request.offset))

    def close(self, *, keep_actors: bool) -> None:
        """Release the actors."""
        self.recording.close()
        self._actors.release(keep=keep_actors)


def _between(a: Float64, b: Float64, share: float) -> Float64:
    """Interpolate two (6,) poses (metres, degrees), rotating the shorter way."""
    difference = b - a
    difference[3:] = (difference[3:] + 180.0) % 360.0 - 180.0
    pose: Float64 = a + share * difference
    pose[3:] = 180.0 - (180.0 - pose[3:]) % 360.0
    return np.asarray(pose)
