"""Flight by attitude: sticks, headings, angles and rates, and the gains of the controllers."""

# ruff: noqa: PLR0917  (AirSim's own names and order)

from typing import Final

from headless_simulator.airsim import flight, simple_flight
from headless_simulator.airsim.drone import Drone
from headless_simulator.airsim.fleet import Task
from headless_simulator.airsim.method import AirSimMethod, Handler, call, declared
from headless_simulator.airsim.methods.flight import Hold
from headless_simulator.airsim.simulation import DelayedAnswer, Simulation
from headless_simulator.airsim.values import Gains, RcData
from headless_simulator.rpc.arguments import AnyNumber, Number, Text


def moveByManual(
    sim: Simulation, vx_max: Number, vy_max: Number, z_min: Number, hold: Hold, vehicle_name: Text = ""
) -> DelayedAnswer:
    """Follow the sticks of moveByRC."""

    def make(drone: Drone) -> Task:
        limits = (vx_max, vy_max, z_min)
        return flight.by_manual(drone, limits, hold.duration, hold.yaw_mode, forward_only=hold.drivetrain)

    return sim.start_command(vehicle_name, make)


def moveByRC(sim: Simulation, rc_data: RcData, vehicle_name: Text = "") -> None:
    """Set the sticks."""
    with sim.fleet.lock:
        sim.fleet.drone(vehicle_name).set_sticks(rc_data)


def rotateToYaw(
    sim: Simulation, yaw: AnyNumber, timeout_sec: AnyNumber, margin: AnyNumber, vehicle_name: Text = ""
) -> DelayedAnswer:
    """Turn to a heading."""
    return sim.start_command(vehicle_name, lambda drone: flight.turn_to(drone, yaw, timeout_sec, margin))


def rotateByYawRate(
    sim: Simulation, yaw_rate: AnyNumber, duration: AnyNumber, vehicle_name: Text = ""
) -> DelayedAnswer:
    """Turn at a yaw rate for a duration."""
    return sim.start_command(vehicle_name, lambda drone: flight.turn_by_rate(drone, yaw_rate, duration))


_R, _L, _P, _D = simple_flight.RATE, simple_flight.LEVEL, simple_flight.POSITION, simple_flight.DIRECT
ATTITUDES: Final = {  # the four goals come in the order of the axes: roll, pitch, yaw, height or throttle
    "moveByRollPitchYawZ": (_L, _L, _L, _P),
    "moveByRollPitchYawThrottle": (_L, _L, _L, _D),
    "moveByRollPitchYawrateThrottle": (_L, _L, _R, _D),
    "moveByRollPitchYawrateZ": (_L, _L, _R, _P),
    "moveByAngleRatesZ": (_R, _R, _R, _P),
    "moveByAngleRatesThrottle": (_R, _R, _R, _D),
    "moveByMotorPWMs": (_D, _D, _D, _D),
}


def _by_attitude(mode: tuple[int, int, int, int]) -> Handler:
    def fly(
        sim: Simulation,
        roll: AnyNumber,
        pitch: AnyNumber,
        yaw: AnyNumber,
        z_or_throttle: AnyNumber,
        duration: AnyNumber,
        vehicle_name: Text = "",
    ) -> DelayedAnswer:
        goal = (roll, pitch, yaw, z_or_throttle)
        return sim.start_command(vehicle_name, lambda drone: flight.by_attitude(drone, mode, goal, duration))

    return fly


GAINS: Final = {
    "setAngleRateControllerGains": simple_flight.G_RATE,
    "setAngleLevelControllerGains": simple_flight.G_LEVEL,
    "setVelocityControllerGains": simple_flight.G_VELOCITY,
    "setPositionControllerGains": simple_flight.G_POSITION,
}


def _set_gains(controller: int) -> Handler:
    def tune(sim: Simulation, kp: Gains, ki: Gains, kd: Gains, vehicle_name: Text = "") -> None:
        with sim.fleet.lock:
            sim.fleet.drone(vehicle_name).set_gains(controller, (kp, ki, kd))

    return tune


METHODS: Final[tuple[AirSimMethod, ...]] = (
    *declared(__name__),
    *(call(_by_attitude(mode), name=name) for name, mode in ATTITUDES.items()),
    *(call(_set_gains(controller), name=name) for name, controller in GAINS.items()),
)
