"""Loading of towns: starts a new episode and ends everything of the previous one."""

from headless_simulator.carla.clock import Clock
from headless_simulator.carla.episode import Episode
from headless_simulator.carla.load_silence import LoadSilence
from headless_simulator.carla.recorder.replay import Replayer
from headless_simulator.carla.recorder.writer import Recorder
from headless_simulator.carla.sensors.hub import Sensors
from headless_simulator.carla.settings import Settings
from headless_simulator.scene import Town
from headless_simulator.towns.library import TownLibrary
from headless_simulator.world.renderer_like import RendererLike
from headless_simulator.world.scenery import MapLayer, Scenery
from headless_simulator.world.world import World


class TownLoader:
    """Loads towns.

    Args:
        world: the world to load into.
        towns: the loadable towns.
        episode: reset by a load.
        clock: held during a load.
        sensors: removed by a load.
        recorder: its file ends.
        replayer: its replay ends.
        silence: blocks ticks for the loading client.
    """

    def __init__(
        self,
        world: World,
        *,
        towns: TownLibrary,
        episode: Episode,
        clock: Clock,
        sensors: Sensors,
        recorder: Recorder,
        replayer: Replayer,
        silence: LoadSilence,
    ) -> None:
        self._world, self._towns, self._episode, self._clock = world, towns, episode, clock
        self._sensors, self._recorder, self._replayer, self._silence = sensors, recorder, replayer, silence

    def load_for(self, client: object, name: str, *, reset_settings: bool, layers: MapLayer) -> None:
        """Start a new episode for a loading client, and block ticks until it is ready.

        Args:
            client: the loading client.
            name: town name; "" for the current town.
            reset_settings: restore the clock's default settings.
            layers: map layers to load.

        Raises:
            CallRefused: there is no such town.
        """
        town, scenery = self._prepare(name)
        with self._clock.held(), self._silence.around_load(client):
            is_watched = bool(self._episode.watchers - {client})
            self._open(town, scenery, reset_settings=reset_settings, layers=layers, is_watched=is_watched)
        self._silence.settle()

    def load_for_replay(self, name: str) -> None:
        """Start a new episode, which clients detect in the next snapshot.

        Raises:
            CallRefused: there is no such town.
        """
        town, scenery = self._prepare(name)
        with self._clock.held():
            self._open(town, scenery, reset_settings=False, layers=MapLayer.ALL, is_watched=True)
            self._silence.announce_map()

    def _prepare(self, name: str) -> tuple[Town, Scenery[RendererLike]]:
        """Build a town and its scenery while the clock runs, because this is slow."""
        town = self._towns.town(name) if name else self._world.town
        return town, self._world.scenery_of(town)

    def _open(
        self, town: Town, scenery: Scenery[RendererLike], *, reset_settings: bool, layers: MapLayer, is_watched: bool
    ) -> None:
        """Start the episode; if clients watch it, actor ids are not reused.

        A client caches actors by id, and clears the cache only when it loads a world itself.
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
