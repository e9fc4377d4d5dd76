"""What is behind the three ports in each set-up of ours; ``config/backends.py`` names these functions.

    topology   world   swarm                    cameras
    carla      CARLA   the plan itself          CARLA cameras moved before the tick
    bridge     CARLA   AirSim flight, stepped   CARLA cameras at the poses that AirSim reports
    merged     CARLA   AirSim, placed           AirSim simGetImages while paused

AirSim's client is imported by the set-ups that need it: the first one runs where it is not installed.
"""

from __future__ import annotations

from collections.abc import Mapping

from uavsim.simulate.carla_cameras import CarlaCameras
from uavsim.simulate.carla_world import CarlaWorld
from uavsim.simulate.ports import Endpoint, Ports
from uavsim.simulate.swarm import PlannedSwarm

__all__ = ["bridge", "carla", "merged"]


def carla(endpoints: Mapping[str, Endpoint]) -> Ports:
    """Fly the plan itself through CARLA's cameras."""
    world = _world(endpoints)
    return Ports(world, PlannedSwarm(), CarlaCameras(world))


def bridge(endpoints: Mapping[str, Endpoint]) -> Ports:
    """Fly in AirSim, look through CARLA's cameras."""
    from uavsim.simulate.airsim_swarm import AirSimFlight

    airsim = endpoints["airsim"]
    world = _world(endpoints)
    return Ports(world, AirSimFlight(airsim.host, airsim.port), CarlaCameras(world))


def merged(endpoints: Mapping[str, Endpoint]) -> Ports:
    """Place the drones in AirSim and look through its cameras, in one process with CARLA."""
    from uavsim.simulate.airsim_cameras import AirSimCameras
    from uavsim.simulate.airsim_swarm import AirSimPoses

    airsim = endpoints["airsim"]
    world = _world(endpoints)
    swarm = AirSimPoses(airsim.host, airsim.port)
    return Ports(world, swarm, AirSimCameras(airsim.host, airsim.port, swarm=swarm))


def _world(endpoints: Mapping[str, Endpoint]) -> CarlaWorld:
    return CarlaWorld(endpoints["carla"].host, endpoints["carla"].port)
