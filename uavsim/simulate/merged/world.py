"""CARLA's half of a merged build (a ``WorldPort``): it pauses the world after a captured tick."""

from collections.abc import Callable, Sequence

from uavsim.records.plan import ScenePlan
from uavsim.records.recording import DroneState
from uavsim.records.road_map import Building
from uavsim.simulate.carla.world import CarlaWorld
from uavsim.simulate.merged_engine import MergedEngine
from uavsim.simulate.ports import Heartbeat, SceneTraffic, TickState
from uavsim.typing import FloatArray


class MergedWorld:
    """A CARLA world that is paused at each captured tick, while AirSim's images are captured."""

    def __init__(self, world: CarlaWorld, *, engine: MergedEngine, pause: Callable[[bool], None]) -> None:
        """Wrap a world; ``pause`` calls ``simPause``."""
        self._world, self._engine, self._pause = world, engine, pause
        self.client_version, self.server_version = world.client_version, world.server_version

    @property
    def kind(self) -> str:
        """See ``WorldPort``."""
        return self._world.kind

    @property
    def map_name(self) -> str:
        """See ``WorldPort``."""
        return self._world.map_name

    def prepare(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> None:
        """See ``WorldPort``."""
        self._engine.release()
        self._world.prepare(plan, heartbeat=heartbeat)

    def populate(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> SceneTraffic:
        """See ``WorldPort``."""
        return self._world.populate(plan, heartbeat=heartbeat)

    def show(self, step: int, drones: Sequence[DroneState] = ()) -> None:
        """See ``WorldPort``."""
        self._world.show(step, drones)

    def set_weather(self, values: Sequence[float]) -> None:
        """See ``WorldPort``."""
        self._world.set_weather(values)

    def tick(self, *, captured: bool) -> TickState:
        """See ``WorldPort``; a captured state is that of the paused world, at the time of the preceding tick."""
        state = self._world.tick(captured=captured)
        if not captured or self._engine.way != "ticks":
            return state
        held = self._engine.hold(self._pause)
        paused = self._world.now(full=True)
        return TickState(held.frame, state.elapsed_s, paused.lazy_actors, paused.motion)

    def drivable(self) -> FloatArray:
        """See ``WorldPort``."""
        return self._world.drivable()

    def opendrive(self) -> str:
        """See ``WorldPort``."""
        return self._world.opendrive()

    def buildings(self) -> list[Building]:
        """See ``WorldPort``."""
        return self._world.buildings()

    def close(self) -> None:
        """See ``WorldPort``."""
        self._world.close()
