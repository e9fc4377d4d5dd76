"""Flights of missions: with the headless simulator in this process, and with AirLib in a separate process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from conformance.airlib.missions import SAMPLE_STEPS, STEP_S, Call, DroneCalls, Mission, wire_arguments, words
from headless_simulator.airsim.fleet import STEP_NS, Task
from headless_simulator.airsim.host import AirSimHost
from headless_simulator.airsim.method_table import method_table
from headless_simulator.airsim.settings import read_settings
from headless_simulator.airsim.simulation import DelayedAnswer, Simulation
from headless_simulator.errors import ClientError

Float32 = npt.NDArray[np.float32]
SPACING_M: Final = 4.0


@dataclass(slots=True)
class Answer:
    """A call's answer and its step."""

    step: int
    result: str  # true, false or error


@dataclass(slots=True)
class Trace:
    """One drone's flight: (N, 7) position NED m and attitude wxyz at every sample, and its calls' answers."""

    poses: Float32
    answers: list[Answer]


def sample_steps(mission: Mission) -> list[int]:
    """Return the steps at which poses are sampled."""
    steps = list(range(0, mission.steps, SAMPLE_STEPS))
    return [*steps, mission.steps]


# ---- ours ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Script:
    """Issues one drone's calls, each after the previous answer."""

    simulation: Simulation
    drone: DroneCalls
    answers: list[Answer] = field(default_factory=list)

    def go_on(self) -> None:
        """Issue the next call."""
        if len(self.answers) == len(self.drone.calls):
            return
        each = self.drone.calls[len(self.answers)]
        try:
            result = self._make(each)
            if isinstance(result, DelayedAnswer):
                result.begin(self._answered)
                return
        except ClientError as error:
            result = error
        self._answered(result)

    def _make(self, each: Call) -> Any:
        fleet = self.simulation.fleet
        if each.method == "wait":
            (seconds,) = each.arguments
            assert isinstance(seconds, int | float)
            wait = _wait(lambda: fleet.now_ns, fleet.now_ns + round(seconds * 1e9))
            return DelayedAnswer(lambda send: fleet.start_task(self.drone.name, wait, send))
        bound = method_table(self.simulation)[each.method]
        return bound.run(bound.read([*wire_arguments(each), self.drone.name]))

    def _answered(self, result: Any) -> None:
        text = "error" if isinstance(result, Exception) else "false" if result is False else "true"
        self.answers.append(Answer(self.simulation.fleet.now_ns, text))
        self.go_on()


def _wait(now_ns: Callable[[], int], until_ns: int) -> Task:
    while now_ns() < until_ns:
        yield until_ns
    return True


def fly_ours(mission: Mission, host: AirSimHost) -> list[Trace]:
    """Fly a mission with the headless simulator's flight code, in simulated time only."""
    vehicles = {
        drone.name: {"X": SPACING_M * number, "Yaw": drone.yaw_deg} for number, drone in enumerate(mission.drones)
    }
    settings = {
        "Vehicles": vehicles,
        "Wind": dict(zip("XYZ", mission.wind_mps, strict=True)),
        "OriginGeopoint": {"Altitude": mission.ground_m},
        "PlayerStart": {"X": 0.0, "Y": 0.0, "Z": 0.0},
    }
    simulation = Simulation(host, read_settings(json.dumps(settings)))
    fleet = simulation.fleet
    begin_ns = fleet.now_ns
    scripts = [_Script(simulation, drone) for drone in mission.drones]
    cancels = {round(second / STEP_S): drone for drone, second in mission.cancels}
    samples = sample_steps(mission)
    poses: list[list[Any]] = [[] for _ in scripts]
    with fleet.lock:
        step = 0
        for script in scripts:
            script.go_on()
        for stop in sorted({*samples, *cancels}):
            fleet.run_for((stop - step) * STEP_NS)
            step = stop
            if stop in samples:
                for number, script in enumerate(scripts):
                    drone = fleet.drone(script.drone.name)
                    poses[number].append([*drone.position_m, *drone.quat])
            if stop in cancels:
                fleet.cancel(mission.drones[cancels[stop]].name)
    for script in scripts:
        for answer in script.answers:
            answer.step = (answer.step - begin_ns) // STEP_NS
    return [
        Trace(np.array(rows, dtype=np.float32), script.answers) for rows, script in zip(poses, scripts, strict=True)
    ]


# ---- AirLib's --------------------------------------------------------------------------------------------------------

SLEEP: Final = "std::this_thread::sleep_for(MinSleepDuration);"
SOURCES: Final = (
    "src/vehicles/multirotor/api/MultirotorApiBase.cpp",
    "src/safety/SafetyEval.cpp",
    "src/safety/ObstacleMap.cpp",
    "src/common/common_utils/FileSystem.cpp",
)


def build_airlib(airlib: Path, eigen: Path, build: Path) -> Path:
    """Compile AirLib with our harness; all of its headers but one are used in place.

    Args:
        airlib: AirSim's folder AirLib.
        eigen: the folder with ``Eigen/Dense``.
        build: output folder.

    Raises:
        ValueError: a folder lacks the expected files.
        subprocess.CalledProcessError: the compilation failed; the compiler printed the errors.
    """
    token = airlib / "include/common/CancelToken.hpp"
    if not token.is_file():
        raise ValueError(f"{airlib} is not AirSim's AirLib: it has no include/common/CancelToken.hpp")
    if not (eigen / "Eigen/Dense").is_file():
        raise ValueError(f"{eigen} has no Eigen/Dense: install Eigen (Debian: libeigen3-dev)")
    text = token.read_text("utf-8")
    if text.count(SLEEP) != 1:
        raise ValueError(f"{token} must contain {SLEEP!r} once; use the AirLib of AirSim 1.8")
    patched = build / "include/common/CancelToken.hpp"
    patched.parent.mkdir(parents=True, exist_ok=True)
    patched.write_text(
        "void airlib_trial_wait_one_step();\n" + text.replace(SLEEP, "airlib_trial_wait_one_step();"), "utf-8"
    )
    program = build / "fly"
    include = [f"-I{path}" for path in (build / "include", airlib / "include", eigen)]
    sources = [str(airlib / name) for name in SOURCES]
    harness = str(Path(__file__).with_name("fly.cpp"))
    subprocess.run(
        ["g++", "-std=c++17", "-O2", "-w", "-pthread", *include, harness, *sources, "-o", str(program)], check=True
    )
    return program


def fly_airlib(mission: Mission, program: Path) -> list[Trace]:
    """Fly a mission with AirLib.

    Raises:
        subprocess.CalledProcessError: the program failed.
    """
    reported = subprocess.run(
        [str(program)], input=words(mission), capture_output=True, text=True, check=True, timeout=300
    )
    poses: dict[str, list[list[float]]] = {drone.name: [] for drone in mission.drones}
    answers: dict[str, list[Answer]] = {drone.name: [] for drone in mission.drones}
    for kind, name, *rest in _lines(reported.stdout):
        if kind == "sample":
            poses[name].append([float(word) for word in rest[1:]])
        elif kind == "answer":
            answers[name].append(Answer(int(rest[1]), rest[2]))
    return [Trace(np.array(poses[p.name], dtype=np.float32), answers[p.name]) for p in mission.drones]


def _lines(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        if words_ := line.split():
            yield words_
