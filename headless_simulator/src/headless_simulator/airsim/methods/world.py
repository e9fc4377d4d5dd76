"""Calls about the server, the clock, weather, light and recording."""

# ruff: noqa: PLR0917, ARG001  (the wire sends anything, in AirSim's own names and order)

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from headless_simulator.airsim.fleet import FRAME_NS
from headless_simulator.airsim.methods.table import Table, entry, finite, finite_pose, number, text, whole
from headless_simulator.airsim.ned import euler_from_quat, quat_unit, vector_of
from headless_simulator.airsim.simulation import MAX_MESSAGES, Later, Simulation

CALLS: Final[Table] = {}
MAX_CONTINUE_S: Final = 1.0e6


@entry(CALLS)
def ping(sim: Simulation) -> bool:
    """Say that somebody is there."""
    return True


@entry(CALLS)
def getServerVersion(sim: Simulation) -> int:
    """Give the protocol's version."""
    return 1


@entry(CALLS)
def getMinRequiredClientVersion(sim: Simulation) -> int:
    """Give the oldest client's version."""
    return 1


@entry(CALLS)
def reset(sim: Simulation) -> None:
    """Put vehicles and cameras back to their start."""
    sim.reset()


@entry(CALLS)
def listVehicles(sim: Simulation) -> list[str]:
    """Name the vehicles."""
    return list(sim.fleet.drones)


@entry(CALLS)
def getSettingsString(sim: Simulation) -> str:
    """Give settings.json as it was read."""
    return sim.settings.text


@entry(CALLS)
def simPause(sim: Simulation, is_paused: Any) -> None:
    """Stop or start time."""
    sim.fleet.pause(bool(is_paused))


@entry(CALLS)
def simIsPaused(sim: Simulation) -> bool:
    """Say whether time stands still."""
    with sim.fleet.lock:
        return not sim.fleet.running


@entry(CALLS)
def simContinueForTime(sim: Simulation, seconds: Any) -> Later:
    """Run for exactly that long, pause, then answer."""
    span_s = finite(seconds, "seconds")
    if not 0 <= span_s <= MAX_CONTINUE_S:
        raise ValueError(f"seconds must be from 0 to {MAX_CONTINUE_S:.0f}")
    return _continue(sim, round(span_s * 1e9))


@entry(CALLS)
def simContinueForFrames(sim: Simulation, frames: Any) -> Later:
    """Run for some frames of 20 ms, pause, then answer."""
    count = whole(frames, "frames")
    if not 0 <= count <= 50_000_000:
        raise ValueError("frames must be from 0 to 50000000")
    return _continue(sim, count * FRAME_NS)


def _continue(sim: Simulation, span_ns: int) -> Later:
    def begin(send: Callable[[Any], None]) -> None:
        sim.fleet.continue_for(span_ns, lambda: send(None))

    return Later(begin)


@entry(CALLS)
def simAddVehicle(sim: Simulation, name: Any, kind: Any, pose: Any, pawn_path: Any = "") -> bool:
    """Add a vehicle at a pose in global NED."""
    if text(kind, "vehicle_type").lower() not in ("simpleflight", "", "computervision"):
        raise ValueError(f"vehicle_type '{kind}' is not served here: use simpleflight")
    position, quat = finite_pose(pose)
    roll, pitch, yaw = (angle * 57.29577951308232 for angle in euler_from_quat(quat_unit(quat)))
    setting = sim.moving_setting(text(name, "vehicle_name"), position, yaw_deg=yaw, pitch_deg=pitch, roll_deg=roll)
    return sim.add_vehicle(setting)


@entry(CALLS)
def simSetTimeOfDay(
    sim: Simulation,
    is_enabled: Any,
    start: Any = "",
    dst: Any = False,
    speed: Any = 1.0,
    interval: Any = 60.0,
    move_sun: Any = True,
) -> None:
    """Move the sun by a date and a clock."""
    with sim.weather_lock:
        sim.atmosphere.set_time_of_day(
            sim.fleet.now_ns,
            on=bool(is_enabled),
            start=text(start, "start_datetime"),
            dst=bool(dst),
            speed=number(speed, "celestial_clock_speed"),
            every_s=number(interval, "update_interval_secs"),
            move=bool(move_sun),
        )


@entry(CALLS)
def simEnableWeather(sim: Simulation, enable: Any) -> None:
    """Let weather parameters work."""
    with sim.weather_lock:
        sim.atmosphere.enable(on=bool(enable))


@entry(CALLS)
def simSetWeatherParameter(sim: Simulation, parameter: Any, value: Any) -> None:
    """Set rain, wetness, snow, leaves, dust or fog, 0 to 1."""
    with sim.weather_lock:
        sim.atmosphere.set_parameter(whole(parameter, "param"), number(value, "val"))


@entry(CALLS)
def simSetWind(sim: Simulation, wind: Any) -> None:
    """Let the wind blow: NED, m/s."""
    read = vector_of(wind)
    if not all(abs(part) < 200 for part in read):
        raise ValueError("wind must be below 200 m/s")
    with sim.fleet.lock:
        sim.fleet.wind_mps[:] = read


@entry(CALLS)
def simPrintLogMessage(sim: Simulation, message: Any, parameter: Any = "", severity: Any = 0) -> None:
    """Keep the message; there is no screen to show it on."""
    sim.messages.append(f"{message}{parameter}"[:1000])
    del sim.messages[:-MAX_MESSAGES]


@entry(CALLS)
def startRecording(sim: Simulation) -> None:
    """Write poses into the folder of the settings."""
    sim.recorder.start()


@entry(CALLS)
def stopRecording(sim: Simulation) -> None:
    """Close the recording."""
    sim.recorder.stop()


@entry(CALLS)
def isRecording(sim: Simulation) -> bool:
    """Say whether it records."""
    return sim.recorder.on


@entry(CALLS)
def simLoadLevel(sim: Simulation, level_name: Any) -> bool:
    """Accept the town that is loaded; another one is CARLA's business."""
    return text(level_name, "level_name") == sim.host.town.name


@entry(CALLS)
def simRunConsoleCommand(sim: Simulation, command: Any) -> bool:
    """Refuse: there is no Unreal console."""
    return False
