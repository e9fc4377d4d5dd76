"""The three ports of each built-in backend; ``config/backends.py`` names these functions.

    topology   world   swarm                          cameras
    carla      CARLA   the plan itself                CARLA cameras moved before the tick
    bridge     CARLA   AirSim flight, stepped         CARLA cameras at the poses that AirSim reports
    cosys      CARLA   Cosys-AirSim flight, stepped   CARLA cameras at the poses that it reports
    merged     CARLA   AirSim, placed                 AirSim simGetImages while paused

Only backends that use AirSim import its client: the first one runs where it is not installed. The server at a port is
identified before a vendor's client connects.
"""

from collections.abc import Mapping

from uavsim.config.backends import AIRSIM, COSYS
from uavsim.config.deadlines import Deadlines
from uavsim.simulate.answerers import refuse_foreign_server
from uavsim.simulate.carla.sensors import CarlaSensors
from uavsim.simulate.carla.world import CarlaWorld
from uavsim.simulate.ports import Endpoint, Ports
from uavsim.simulate.swarm import PlannedSwarm


def carla(endpoints: Mapping[str, Endpoint], deadlines: Deadlines) -> Ports:
    """Follow the plan exactly, with CARLA's cameras."""
    world = _world(endpoints, deadlines)
    return Ports(world, PlannedSwarm(), CarlaSensors(world, deadline_s=deadlines.images_s))


def bridge(endpoints: Mapping[str, Endpoint], deadlines: Deadlines) -> Ports:
    """Fly in AirSim, with CARLA's cameras."""
    refuse_foreign_server(AIRSIM, endpoints["airsim"], topology="bridge")
    return _flown(endpoints, deadlines, client="airsim")


def cosys(endpoints: Mapping[str, Endpoint], deadlines: Deadlines) -> Ports:
    """Fly in Cosys-AirSim, with CARLA's cameras."""
    refuse_foreign_server(COSYS, endpoints["airsim"], topology="cosys")
    return _flown(endpoints, deadlines, client="cosysairsim")


def merged(endpoints: Mapping[str, Endpoint], deadlines: Deadlines) -> Ports:
    """Follow the plan exactly, with AirSim's cameras, in one process with CARLA."""
    from uavsim.simulate.airsim.swarm import AirSimPoses
    from uavsim.simulate.merged.sensors import AirSimSensors
    from uavsim.simulate.merged.world import MergedWorld
    from uavsim.simulate.merged_engine import MergedEngine

    airsim = endpoints["airsim"]
    refuse_foreign_server(AIRSIM, airsim, topology="merged")
    world = _world(endpoints, deadlines)
    engine = MergedEngine(world, deadlines=deadlines)
    swarm = AirSimPoses(airsim.host, airsim.port, engine=engine)
    cameras = AirSimSensors(airsim.host, airsim.port, swarm=swarm)
    return Ports(MergedWorld(world, engine=engine, pause=swarm.pause), swarm, cameras)


def _flown(endpoints: Mapping[str, Endpoint], deadlines: Deadlines, *, client: str) -> Ports:
    from uavsim.simulate.airsim.swarm import AirSimFlight

    airsim = endpoints["airsim"]
    world = _world(endpoints, deadlines)
    flight = AirSimFlight(airsim.host, airsim.port, client=client, call_s=deadlines.airsim_s)
    return Ports(world, flight, CarlaSensors(world, deadline_s=deadlines.images_s))


def _world(endpoints: Mapping[str, Endpoint], deadlines: Deadlines) -> CarlaWorld:
    return CarlaWorld(endpoints["carla"].host, endpoints["carla"].port, deadlines=deadlines)
