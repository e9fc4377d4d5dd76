"""Open a simulator backend by its topology's name: the three ports, ready to fly scenes one after another."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from uavsim.config.backends import Backend, backend_of
from uavsim.config.deadlines import Deadlines
from uavsim.errors import InputError
from uavsim.records.plan import ScenePlan
from uavsim.registry import Named
from uavsim.simulate.lockstep import Lockstep
from uavsim.simulate.ports import Endpoint, Heartbeat, Ports, SceneTraffic, SensorPort, SwarmPort, WorldPort

Opener = Callable[[Mapping[str, Endpoint], Deadlines], Ports]
_PATIENT: Final = Deadlines()


@dataclass(slots=True, eq=False)
class Session:
    """A backend that is connected; scenes are flown one after another in it."""

    topology: str
    world: WorldPort
    swarm: SwarmPort
    sensors: SensorPort
    deadlines: Deadlines = _PATIENT

    def begin_scene(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> tuple[Lockstep, SceneTraffic]:
        """Load and populate; returns the scene's clock, which has to warm up, and its traffic."""
        self.sensors.stop()  # the ticks between two scenes draw nothing
        self.world.prepare(plan, heartbeat=heartbeat)
        traffic = self.world.populate(plan, heartbeat=heartbeat)
        self.sensors.begin(plan, traffic=traffic)
        self.swarm.begin(plan, heartbeat=heartbeat)
        lockstep = Lockstep(
            plan, world=self.world, swarm=self.swarm, sensors=self.sensors, heartbeat=heartbeat, traffic=traffic
        )
        return lockstep, traffic

    def close(self) -> None:
        """Leave the simulator as it was found."""
        self.sensors.close()
        self.swarm.close()
        self.world.close()


def open_session(topology: str, endpoints: Mapping[str, Endpoint], *, deadlines: Deadlines = _PATIENT) -> Session:
    """Connect to a running simulator.

    Args:
        topology: a backend of ``config/backends.py`` or of another package.
        endpoints: where its servers listen, by their names.
        deadlines: how long its calls may take.

    Raises:
        InputError: an unknown topology, or a server of it that is not among the endpoints.
        SimulatorError: not there, or of another version.
    """
    backend = backend_of(topology)
    if missing := backend.missing(endpoints):
        raise InputError(f"topology {topology} needs {missing[0].title}: no endpoint {missing[0].name} was given")
    ports = ports_of(backend)(endpoints, deadlines)
    return Session(topology, ports.world, ports.swarm, ports.sensors, deadlines)


def ports_of(backend: Backend) -> Opener:
    """Import the code of a backend, and with it its clients.

    Raises:
        InputError: a client is not installed, or there is no such function.
    """
    try:
        found: object = Named(backend.ports).load()
    except InputError as error:
        raise InputError(f"topology {backend.topology}: {error}") from error
    if not callable(found):
        raise InputError(f"topology {backend.topology}: {backend.ports} is not a function")
    opener: Opener = found
    return opener
