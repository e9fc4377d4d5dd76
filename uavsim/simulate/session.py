"""Open a simulator set-up by its topology's name: the three ports, ready to fly scenes one after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from uavsim.errors import InputError
from uavsim.records.plan import ScenePlan, Topology
from uavsim.registry import pick
from uavsim.simulate.carla_cameras import CarlaCameras
from uavsim.simulate.carla_world import CarlaWorld
from uavsim.simulate.clients import check_client
from uavsim.simulate.lockstep import Lockstep
from uavsim.simulate.ports import CameraPort, Heartbeat, SceneTraffic, SwarmPort, WorldPort
from uavsim.simulate.swarm import PlannedSwarm

__all__ = ["Endpoint", "Session", "open_session"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a simulator listens."""

    host: str
    port: int

    @staticmethod
    def parse(text: str, *, what: str) -> Endpoint:
        """Read ``HOST:PORT``.

        Raises:
            InputError: not of that form.
        """
        host, _, port = text.rpartition(":")
        if not host or not port.isdigit() or not 0 < int(port) < 65536:
            raise InputError(f"{what} {text!r} is not HOST:PORT")
        return Endpoint(host, int(port))


@dataclass(slots=True, eq=False)
class Session:
    """A set-up that is connected; scenes are flown one after another in it."""

    topology: Topology
    world: WorldPort
    swarm: SwarmPort
    cameras: CameraPort

    def begin_scene(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> tuple[Lockstep, SceneTraffic]:
        """Load, populate and warm up; returns the scene's clock and its traffic."""
        self.world.prepare(plan, heartbeat=heartbeat)
        traffic = self.world.populate(plan, heartbeat=heartbeat)
        self.cameras.begin(plan, traffic=traffic)
        self.swarm.begin(plan, heartbeat=heartbeat)
        lockstep = Lockstep(plan, world=self.world, swarm=self.swarm, cameras=self.cameras, heartbeat=heartbeat)
        lockstep.warm_up()
        return lockstep, traffic

    def close(self) -> None:
        """Leave the simulator as it was found."""
        self.cameras.close()
        self.swarm.close()
        self.world.close()


def open_session(topology: Topology, *, carla: Endpoint, airsim: Endpoint | None) -> Session:
    """Connect to a running simulator.

    Raises:
        InputError: the topology needs an AirSim endpoint and none was given, or AirSim's client is not installed.
        SimulatorError: not there, or of another version.
    """
    opener = pick(_OPENERS, topology, what="topology")
    check_client(topology)
    return opener(carla, airsim)


def _open_carla(carla: Endpoint, airsim: Endpoint | None) -> Session:
    del airsim
    world = CarlaWorld(carla.host, carla.port)
    return Session("carla", world, PlannedSwarm(), CarlaCameras(world))


def _needed(airsim: Endpoint | None, topology: str) -> Endpoint:
    if airsim is None:
        raise InputError(f"topology {topology!r} needs AirSim too: give HOST:CARLA_PORT:AIRSIM_PORT")
    return airsim


def _open_bridge(carla: Endpoint, airsim: Endpoint | None) -> Session:
    from uavsim.simulate.airsim_swarm import AirSimFlight

    where = _needed(airsim, "bridge")
    world = CarlaWorld(carla.host, carla.port)
    return Session("bridge", world, AirSimFlight(where.host, where.port), CarlaCameras(world))


def _open_merged(carla: Endpoint, airsim: Endpoint | None) -> Session:
    from uavsim.simulate.airsim_cameras import AirSimCameras
    from uavsim.simulate.airsim_swarm import AirSimPoses

    where = _needed(airsim, "merged")
    world = CarlaWorld(carla.host, carla.port)
    swarm = AirSimPoses(where.host, where.port)
    return Session("merged", world, swarm, AirSimCameras(where.host, where.port, swarm=swarm))


_OPENERS: Final[dict[str, Callable[[Endpoint, Endpoint | None], Session]]] = {
    "carla": _open_carla,
    "bridge": _open_bridge,
    "merged": _open_merged,
}
