"""Opens a simulator backend by the name of its topology, ready to fly scenes one after another."""

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
_DEFAULT_DEADLINES: Final = Deadlines()


@dataclass(slots=True, eq=False)
class Session:
    """A connected backend, which flies one scene after another."""

    topology: str
    world: WorldPort
    swarm: SwarmPort
    sensors: SensorPort
    deadlines: Deadlines = _DEFAULT_DEADLINES

    def begin_scene(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> tuple[Lockstep, SceneTraffic]:
        """Load and populate a scene; returns its lockstep, before the warm-up, and its traffic."""
        self.sensors.stop()  # nothing renders in the ticks between two scenes
        self.world.prepare(plan, heartbeat=heartbeat)
        traffic = self.world.populate(plan, heartbeat=heartbeat)
        self.sensors.begin(plan, traffic=traffic)
        self.swarm.begin(plan, heartbeat=heartbeat)
        lockstep = Lockstep(
            plan, world=self.world, swarm=self.swarm, sensors=self.sensors, heartbeat=heartbeat, traffic=traffic
        )
        return lockstep, traffic

    def close(self) -> None:
        """Restore the simulator's initial state."""
        self.sensors.close()
        self.swarm.close()
        self.world.close()


def open_session(
    topology: str, endpoints: Mapping[str, Endpoint], *, deadlines: Deadlines = _DEFAULT_DEADLINES
) -> Session:
    """Connect to a running simulator.

    Args:
        topology: name of a backend, built-in or of another package.
        endpoints: addresses of its servers by their names.
        deadlines: time limits of its calls.

    Raises:
        InputError: the topology is unknown, or one of its servers has no endpoint.
        SimulatorError: a server does not answer, or has another version.
    """
    backend = backend_of(topology)
    if missing := backend.missing(endpoints):
        raise InputError(f"topology {topology} needs {missing[0].title}: no endpoint {missing[0].name} was given")
    ports = ports_of(backend)(endpoints, deadlines)
    return Session(topology, ports.world, ports.swarm, ports.sensors, deadlines)


def ports_of(backend: Backend) -> Opener:
    """Import a backend's code, and with it its clients.

    Raises:
        InputError: a client is not installed, or the function does not exist.
    """
    try:
        loaded: object = Named(backend.ports).load()
    except InputError as error:
        raise InputError(f"topology {backend.topology}: {error}") from error
    if not callable(loaded):
        raise InputError(f"topology {backend.topology}: {backend.ports} is not a function")
    opener: Opener = loaded
    return opener
