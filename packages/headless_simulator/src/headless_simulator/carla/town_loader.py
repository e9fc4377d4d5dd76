"""Opening a town: a new episode begins, and everything that belonged to the last one ends."""

from headless_simulator.carla import snapshot, wire
from headless_simulator.carla.clock import Clock
from headless_simulator.carla.episode import Episode
from headless_simulator.carla.load_silence import LoadSilence
from headless_simulator.carla.recorder.replay import Replayer
from headless_simulator.carla.recorder.writer import Recorder
from headless_simulator.carla.sensors.hub import Sensors
from headless_simulator.carla.settings import Settings
from headless_simulator.carla.streams import EPISODE_STREAM, Streams
from headless_simulator.scene import Town
from headless_simulator.towns.library import TownLibrary
from headless_simulator.world.renderer_like import RendererLike
from headless_simulator.world.scenery import MapLayer, Scenery
from headless_simulator.world.world import World


class TownLoader:
    """Opens towns.

    Args:
        world: where they are opened.
        towns: what can be opened.
        episode: begins anew.
        clock: is held meanwhile.
        streams: where clients see it.
        sensors: end.
        recorder: ends its file.
        replayer: ends its replay.
        silence: is kept for a client that loads.
    """

    def __init__(
        self,
        world: World,
        *,
        towns: TownLibrary,
        episode: Episode,
        clock: Clock,
        streams: Streams,
        sensors: Sensors,
        recorder: Recorder,
        replayer: Replayer,
        silence: LoadSilence,
    ) -> None:
        self._world, self._towns, self._episode, self._clock = world, towns, episode, clock
        self._streams, self._sensors, self._recorder, self._replayer = streams, sensors, recorder, replayer
        self._silence = silence

    def load_for(self, client: object, name: str, *, reset_settings: bool, layers: MapLayer) -> None:
        """Begin a new episode for a client that asks for it, and keep the silence that it needs.

        Args:
            client: who asks.
            name: of the town; "" for the one that is open.
            reset_settings: give the clock back its default settings.
            layers: what of the town is there.

        Raises:
            CallRefused: there is no such town.
        """
        town, scenery = self._prepare(name)
        with self._clock.held(), self._silence.around_load(client):
            is_watched = bool(self._episode.watchers - {client})
            self._open(town, scenery, reset_settings=reset_settings, layers=layers, is_watched=is_watched)
        self._silence.settle()

    def load_for_replay(self, name: str) -> None:
        """Begin a new episode of which clients hear by the next snapshot.

        Raises:
            CallRefused: there is no such town.
        """
        town, scenery = self._prepare(name)
        with self._clock.held():
            self._open(town, scenery, reset_settings=False, layers=MapLayer.ALL, is_watched=True)
            self._streams.send(
                EPISODE_STREAM,
                (snapshot.pack(self._world, flags=wire.MAP_CHANGE, observer=self._streams.version.world_observer),),
            )

    def _prepare(self, name: str) -> tuple[Town, Scenery[RendererLike]]:
        """Make what a town needs while the clock goes on: nobody waits for what is slow."""
        town = self._towns.town(name) if name else self._world.town
        return town, self._world.scenery_of(town)

    def _open(
        self, town: Town, scenery: Scenery[RendererLike], *, reset_settings: bool, layers: MapLayer, is_watched: bool
    ) -> None:
        """Begin the episode; where somebody watches, no id comes a second time.

        A client keeps what it is given of an actor by its id, and forgets it only when it loads a world itself.
        """
        self._sensors.finish()
        with self._world.lock:
            self._recorder.stop()
            self._replayer.forget()
            self._sensors.clear()
            if reset_settings:
                self._episode.settings = Settings()
            self._episode.traffic_managers.clear()
            self._world.open(town, scenery, ids_go_on=is_watched)
            self._world.scenery.unload(MapLayer.ALL & ~layers)
