"""Methods about the server, the clock, weather, light and recording."""

# ruff: noqa: PLR0917, ARG001  (AirSim's own names and order)

import math
from collections.abc import Callable
from typing import Any, Final

from headless_simulator.airsim.fleet import FRAME_NS
from headless_simulator.airsim.method import AirSimMethod, declared
from headless_simulator.airsim.ned import euler_from_quat, quat_unit
from headless_simulator.airsim.settings import VehicleSetting
from headless_simulator.airsim.simulation import MAX_MESSAGES, DelayedAnswer, Simulation
from headless_simulator.airsim.values import FinitePose, Vector3r
from headless_simulator.errors import CallRefused
from headless_simulator.rpc.arguments import AnyNumber, Anything, Flag, Integer, Number, Text

MAX_CONTINUE_S: Final = 1.0e6
PROMPT_RESETS: Final = 2  # a merged build on Unreal was seen to hang after two to six (carla-air-testbed, 2026-07-31)


def ping(sim: Simulation) -> bool:
    """Return True."""
    return True


def getServerVersion(sim: Simulation) -> int:
    """Return the protocol's version."""
    return 1


def getMinRequiredClientVersion(sim: Simulation) -> int:
    """Return the oldest supported client version."""
    return 1


def reset(sim: Simulation) -> DelayedAnswer | None:
    """Return vehicles and cameras to their start; with the behaviour ``reset=slow`` later calls get no answer."""
    sim.resets += 1
    if sim.behaviours["reset"] == "slow" and sim.resets > PROMPT_RESETS:
        return DelayedAnswer(lambda _send: None)
    sim.reset()
    return None


def listVehicles(sim: Simulation) -> list[str]:
    """List the names of the vehicles."""
    return list(sim.fleet.drones)


def getSettingsString(sim: Simulation) -> str:
    """Return the text of settings.json."""
    return sim.settings.text


def simPause(sim: Simulation, is_paused: Flag) -> None:
    """Stop or start time."""
    sim.fleet.pause(is_paused)


def simIsPaused(sim: Simulation) -> bool:
    """Return whether simulated time is paused."""
    with sim.fleet.lock:
        return not sim.fleet.running


def simContinueForTime(sim: Simulation, seconds: Number) -> DelayedAnswer:
    """Run for a duration in whole steps, pause, then answer."""
    if not 0 <= seconds <= MAX_CONTINUE_S:
        raise CallRefused(f"seconds must be from 0 to {MAX_CONTINUE_S:.0f}")
    return _continue(sim, round(seconds * 1e9))


def simContinueForFrames(sim: Simulation, frames: Integer) -> DelayedAnswer:
    """Run for a number of frames of 20 ms, pause, then answer."""
    if not 0 <= frames <= 50_000_000:
        raise CallRefused("frames must be from 0 to 50000000")
    return _continue(sim, frames * FRAME_NS)


def _continue(sim: Simulation, span_ns: int) -> DelayedAnswer:
    def begin(send: Callable[[Any], None]) -> None:
        sim.fleet.continue_for(span_ns, lambda: send(None))

    return DelayedAnswer(begin)


def simAddVehicle(sim: Simulation, name: Text, vehicle_type: Text, pose: FinitePose, _pawn_path: Anything = "") -> bool:
    """Add a vehicle at a pose in global NED."""
    if vehicle_type.lower() not in ("simpleflight", "", "computervision"):
        raise CallRefused(f"vehicle_type '{vehicle_type}' is not served here: use simpleflight")
    position, quat = pose
    roll, pitch, yaw = (math.degrees(angle) for angle in euler_from_quat(quat_unit(quat)))
    sensors = sim.settings.default_sensors
    return sim.add_vehicle(VehicleSetting(name, position, roll, pitch, yaw, sensors=sensors))


def simSetTimeOfDay(
    sim: Simulation,
    is_enabled: Flag,
    start_datetime: Text = "",
    is_start_datetime_dst: Flag = False,
    celestial_clock_speed: AnyNumber = 1.0,
    update_interval_secs: AnyNumber = 60.0,
    move_sun: Flag = True,
) -> None:
    """Set the sun by date and time, and optionally let it move."""
    with sim.weather_lock:
        sim.atmosphere.set_time_of_day(
            sim.fleet.now_ns,
            on=is_enabled,
            start=start_datetime,
            dst=is_start_datetime_dst,
            speed=celestial_clock_speed,
            every_s=update_interval_secs,
            move=move_sun,
        )


def simEnableWeather(sim: Simulation, enable: Flag) -> None:
    """Enable or disable the weather parameters."""
    with sim.weather_lock:
        sim.atmosphere.enable(on=enable)


def simSetWeatherParameter(sim: Simulation, param: Integer, val: AnyNumber) -> None:
    """Set rain, wetness, snow, leaves, dust or fog, 0 to 1."""
    with sim.weather_lock:
        sim.atmosphere.set_parameter(param, val)


def simSetWind(sim: Simulation, wind: Vector3r) -> None:
    """Set the wind, NED in m/s."""
    if not all(abs(part) < 200 for part in wind):
        raise CallRefused("wind must be below 200 m/s")
    with sim.fleet.lock:
        sim.fleet.wind_mps[:] = wind


def simPrintLogMessage(
    sim: Simulation, message: Anything, message_param: Anything = "", _severity: Anything = 0
) -> None:
    """Store the message; there is no screen."""
    sim.messages.append(f"{message}{message_param}"[:1000])
    del sim.messages[:-MAX_MESSAGES]


def startRecording(sim: Simulation) -> None:
    """Write poses into the folder of the settings."""
    sim.recorder.start()


def stopRecording(sim: Simulation) -> None:
    """Close the recording."""
    sim.recorder.stop()


def isRecording(sim: Simulation) -> bool:
    """Return whether poses are being recorded."""
    return sim.recorder.on


def simLoadLevel(sim: Simulation, level_name: Text) -> bool:
    """Accept the loaded town; only CARLA's port loads another one."""
    return level_name == sim.host.town.name


def simRunConsoleCommand(sim: Simulation, _command: Anything) -> bool:
    """Refuse: there is no Unreal console."""
    return False


METHODS: Final[tuple[AirSimMethod, ...]] = declared(__name__)
