"""Commands that are answered at their end."""

from collections.abc import Callable
from typing import Any

from headless_simulator.airsim.drone import Drone
from headless_simulator.airsim.fleet import Task
from headless_simulator.airsim.simulation import Later, Simulation
from headless_simulator.errors import CallRefused


def start_command(sim: Simulation, vehicle: str, make: Callable[[Drone], Task]) -> Later:
    """Start a command; the answer comes at its end.

    Raises:
        CallRefused: no client has control. (AirSim's SimpleFlight would wait for ever instead.)
    """
    if not sim.settings.flies:
        raise CallRefused("SimMode is ComputerVision: nothing flies; use simSetVehiclePose")

    def begin(send: Callable[[Any], None]) -> None:
        with sim.fleet.lock:
            drone = sim.fleet.drone(vehicle)
            if not drone.api:
                raise CallRefused(f"ApiControl is not enabled for '{drone.name}': call enableApiControl(True) first")
            sim.fleet.start_task(drone.name, make(drone), send)

    return Later(begin)
