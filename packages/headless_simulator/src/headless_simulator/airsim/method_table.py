"""The table of AirSim's RPC methods: every module's methods, bound to one simulation."""

from headless_simulator.airsim.method import Traits
from headless_simulator.airsim.methods import attitude, flight, images, objects, plots, sensing, world
from headless_simulator.airsim.simulation import Simulation
from headless_simulator.rpc.methods import Bound, bind, combine


def method_table(simulation: Simulation) -> dict[str, Bound[Traits]]:
    """Bind every method; a duplicate name is an error."""
    return combine(
        *(bind(module.METHODS, simulation) for module in (attitude, flight, images, objects, plots, sensing, world))
    )
