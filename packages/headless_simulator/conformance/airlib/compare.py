"""Flies every mission with AirLib and with the headless simulator, and prints how far apart they are.

    python -m conformance.airlib.compare AIRLIB [--eigen FOLDER] [--build FOLDER] [--only WORD ...] [--traces FILE]

AIRLIB is the folder AirLib of a copy of github.com/microsoft/AirSim, which you fetch; it is compiled, not changed. It
needs g++ and Eigen. ``--traces`` writes AirLib's poses, which the tests hold the headless simulator against.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from conformance.airlib.flat_world import FlatWorld
from conformance.airlib.flights import Answer, Float32, Trace, build_airlib, fly_airlib, fly_ours
from conformance.airlib.missions import MISSIONS, Mission

MOST_M: Final = 0.05
MOST_DEG: Final = 0.5
MOST_STEPS: Final = 7  # one command period
TRACE_EVERY: Final = 2  # samples: about 5 Hz


@dataclass(frozen=True, slots=True)
class Difference:
    """The largest distances between two flights of one mission."""

    metres: float
    degrees: float
    answers: str  # "" if they agree

    @property
    def agrees(self) -> bool:
        """True if the two flights are within the tolerances."""
        return self.metres <= MOST_M and self.degrees <= MOST_DEG and not self.answers


def difference(airlib: Sequence[Trace], ours: Sequence[Trace]) -> Difference:
    """Compare all drones of a mission, sample by sample and answer by answer."""
    metres, degrees, answers = 0.0, 0.0, ""
    for theirs, mine in zip(airlib, ours, strict=True):
        apart = np.linalg.norm(theirs.poses[:, :3] - mine.poses[:, :3], axis=1)
        metres = max(metres, float(apart.max()))
        degrees = max(degrees, float(_angles_deg(theirs.poses[:, 3:], mine.poses[:, 3:]).max()))
        answers = answers or _first_other_answer(theirs.answers, mine.answers)
    return Difference(metres, degrees, answers)


def _angles_deg(first: Float32, second: Float32) -> Float32:
    """Return the angles between (N, 4) attitudes, degrees; from the chord, since the cosine is inexact at small angles."""
    sign = np.where((first * second).sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
    half_chord = np.linalg.norm(first * sign - second, axis=1) / 2
    angles: Float32 = np.degrees(4 * np.arcsin(half_chord.clip(0, 1)))
    return angles


def _first_other_answer(theirs: Sequence[Answer], mine: Sequence[Answer]) -> str:
    if len(theirs) != len(mine):
        return f"{len(theirs)} answers there, {len(mine)} here"
    for number, (a, b) in enumerate(zip(theirs, mine, strict=True)):
        if a.result != b.result or abs(a.step - b.step) > MOST_STEPS:
            return f"call {number}: {a.result} in step {a.step} there, {b.result} in step {b.step} here"
    return ""


def write_traces(path: Path, flights: Mapping[str, Sequence[Trace]]) -> None:
    """Write AirLib's flights: (N, 7) poses at every second sample, and all answers."""
    arrays = {
        f"{name}|{n}": trace.poses[::TRACE_EVERY] for name, all_ in flights.items() for n, trace in enumerate(all_)
    }
    answers = {name: [[[a.step, a.result] for a in t.answers] for t in all_] for name, all_ in flights.items()}
    np.savez_compressed(path, answers=np.array(json.dumps(answers)), **arrays)  # type: ignore[arg-type]


def read_traces(path: Path) -> dict[str, list[Trace]]:
    """Read a file of ``write_traces``."""
    with np.load(path) as stored:
        answers = json.loads(str(stored["answers"]))
        return {
            name: [
                Trace(stored[f"{name}|{number}"], [Answer(step, result) for step, result in each])
                for number, each in enumerate(all_)
            ]
            for name, all_ in answers.items()
        }


def thin(traces: Sequence[Trace]) -> list[Trace]:
    """Return traces with the samples that ``write_traces`` writes."""
    return [Trace(trace.poses[::TRACE_EVERY], trace.answers) for trace in traces]


def _place(trace: Trace) -> str:
    x, y, z, qw, qx, qy, qz = (float(part) for part in trace.poses[-1])
    yaw = np.degrees(np.arctan2(2 * (qw * qz + qx * qy), 1 - 2 * (qy * qy + qz * qz)))
    return " ".join(f"{part + 0.0:.2f}" for part in (x, y, z)) + f", {yaw + 0.0:.1f}°"


def table_row(mission: Mission, airlib: Sequence[Trace], ours: Sequence[Trace]) -> str:
    """Return a mission's table row: both end poses of the first drone, and the largest distance between the flights."""
    apart = difference(airlib, ours)
    said = ", ".join(answer.result for answer in airlib[0].answers[2:]) or "-"
    outcome = apart.answers or ("" if apart.agrees else "TOO FAR")
    return (
        f"| {mission.name} | {_place(airlib[0])} | {_place(ours[0])} | {apart.metres:.4f} m, {apart.degrees:.3f}° "
        f"| {said} {outcome}|"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Fly the missions and print the differences; returns 1 if a mission differs."""
    parser = argparse.ArgumentParser(
        prog="python -m conformance.airlib.compare", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("airlib", type=Path, help="AirSim's folder AirLib")
    parser.add_argument("--eigen", type=Path, default=Path("/usr/include/eigen3"))
    parser.add_argument("--build", type=Path, default=Path(tempfile.gettempdir()) / "fly_airlib")
    parser.add_argument("--only", nargs="*", default=[""], metavar="WORD")
    parser.add_argument("--traces", type=Path)
    chosen = parser.parse_args(arguments)
    try:
        program = build_airlib(chosen.airlib, chosen.eigen, chosen.build)
    except ValueError as error:
        parser.error(str(error))
    missions = [m for m in MISSIONS if any(word in m.name for word in chosen.only)]
    flights: dict[str, list[Trace]] = {}
    differing = 0
    print("| mission | AirLib ends at x y z, yaw | ours | apart at worst | answers |")
    print("|---|---|---|---|---|")
    for mission in missions:
        flights[mission.name] = fly_airlib(mission, program)
        ours = fly_ours(mission, FlatWorld())
        print(table_row(mission, flights[mission.name], ours), flush=True)
        differing += not difference(flights[mission.name], ours).agrees
    print(f"\n{len(missions) - differing} of {len(missions)} missions agree to {MOST_M} m and {MOST_DEG}°.")
    if chosen.traces:
        write_traces(chosen.traces, flights)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
