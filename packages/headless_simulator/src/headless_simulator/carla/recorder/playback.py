"""Start of a replay: open the recording, load its town, take over the actors."""

from headless_simulator.carla.clock import Clock
from headless_simulator.carla.recorder import files
from headless_simulator.carla.recorder.layout import Damaged
from headless_simulator.carla.recorder.reader import Recording
from headless_simulator.carla.recorder.replay import OpenedRecording, Replayer, ReplayRequest
from headless_simulator.carla.recorder.writer import Recorder
from headless_simulator.carla.town_loader import TownLoader
from headless_simulator.errors import CallRefused
from headless_simulator.world.world import World


class Playback:
    """Starts replays; called without the world's lock, because it may load the recording's town.

    Args:
        world: the world with the loaded town.
        clock: held while the replay takes over.
        loader: loads the recording's town.
        recorder: ends its file first.
        replayer: plays the recording.
    """

    def __init__(
        self, world: World, *, clock: Clock, loader: TownLoader, recorder: Recorder, replayer: Replayer
    ) -> None:
        self._world, self._clock, self._loader = world, clock, loader
        self._recorder, self._replayer = recorder, replayer

    def play(self, recording_path: files.RecordingPath, request: ReplayRequest) -> str:
        """Start a replay; returns CARLA's answer text."""
        with self._clock.standing_still():
            self._recorder.stop()
        lines = [f"Replaying File: {recording_path.path}"]
        file = files.open_existing(recording_path)
        if file is None:
            return _text(*lines, f"File {recording_path.path} not found on server")
        try:
            opened = OpenedRecording(Recording(file), request)
        except Damaged:
            return _text(*lines, "File is not a CARLA recorder")
        with self._clock.standing_still():
            self._replayer.stop(keep_actors=True)
        try:
            lines += self._change_town(opened.recording.header.town)
        except CallRefused as refusal:
            opened.recording.close()
            return _text(*lines, f"Could not load mapfile {opened.recording.header.town}: {refusal}")
        with self._clock.standing_still():
            self._replayer.stop(keep_actors=True)  # of another client, started meanwhile
            return _text(*lines, *self._replayer.begin(opened))

    def _change_town(self, town: str) -> list[str]:
        name = town.rsplit("/", 1)[-1]
        current = self._world.town.name
        if name in (current, f"{current}_Opt"):
            return []
        self._loader.load_for_replay(name)
        return [f"Loading map {town}", "Replayer will start after map is loaded..."]


def _text(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)
