"""Run the scenarios of CARLA's scenario_runner, unchanged, against the headless simulator and print how each ended.

    python -m conformance.scenario_runner FOLDER --agents FOLDER --python PATH [--only PATTERN ...] [--towns NAME ...]
                                [--move] [--limit 300] [--maps FOLDER] [--logs FOLDER] [--results FILE]

FOLDER is a checkout of scenario_runner 0.9.16; --agents is PythonAPI/carla of a copy of CARLA 0.9.16, which it imports.
--python names an interpreter with scenario_runner's requirements (docs/examples.md lists versions). All XML
scenarios and OpenSCENARIO files (1 and 2) of its examples run whose town the simulator offers, each with its own process.
--results names a file of JSON lines: each ending is added to it, and a scenario that it holds is not run again.

Nobody drives the ego vehicle in scenario_runner's XML and OpenSCENARIO 1 files; here scenario_driver.py does. A
scenario that comes to its end "ran", and what its criteria say of the drive is printed. One that ends in an exception is
"FAIL", one not at its end after --limit "too slow". A scenario that does either and whose ego vehicle begins off the roads of
a look-alike (scenario_places.py), or that says itself that a place is not there, is "no place"; "not run" where no
simulator could run it. Those that begin on a lane run first. --move lets an XML scenario that begins off the roads, or where
a look-alike's lane is not what its class asks for, begin at the nearest place that is (scenario_moves.py).
Ends with 0 only if none failed or was too slow.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from conformance.processes import run_to_end
from conformance.scenario_moves import MOVED, move_scenarios, xml_of
from conformance.scenario_places import maps_of, opendrive_texts, where_scenarios_begin
from headless_simulator.testing import running_simulator

DRIVER = Path(__file__).with_name("scenario_driver.py")
LAST_LINE = "No more scenarios"
END_OF_TESTS = (
    "scenario tests were"  # actors are destroyed after it, which may throw in a thread of the Traffic Manager
)
TRAFFIC_MANAGER_BEHIND = 600  # offset of its port from the simulator's
NO_PLACE = (  # scenario_runner's exception texts about missing positions, in lower case
    "unable to spawn",
    "error: unable to",
    "spawn failed because of collision",
    "no more locations",
    "couldn't find",
    "could not find a",
    "trying to find a lane",
    "laneposition",
    "'nonetype' object has no attribute 'transform'",  # of a missing lane beside or ahead
    "roadposition",  # of an OpenSCENARIO file: a road by its number in CARLA's own map
)
ENDLESS = ("FreeRide/", "ChangingWeather.xosc", "LaneOffsetActionExample.xosc")  # idle; wait for 116 days; drive 10 km
ENDLESS_S = 40
NOT_RUN = {
    "ChangeLane/ChangeLane_2": "its XML names none of the actors that its class takes",
    "IntersectionCollisionAvoidance.xosc": "scenario_runner counts the times of its waypoints, which it has given none",
    "SyncArrivalIntersection.xosc": "scenario_runner counts the times of its waypoints, which it has given none",
    "OscControllerExample.xosc": "it ends after 20 km of driving",
    "emit.osc": "scenario_runner's own OSC2Scenario has no `event`, which emit and wait ask for",
    "wait.osc": "scenario_runner's own OSC2Scenario has no `event`, which emit and wait ask for",
}


@dataclass(frozen=True)
class Scenario:
    """One scenario to run."""

    name: str
    town: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Ending:
    """The end of one scenario."""

    name: str
    town: str
    kind: str
    seconds: int
    how: str
    off_lane: str = ""  # reason why its ego vehicle does not start on a lane
    moved_m: float | None = None  # displacement of its start, metres


@dataclass(frozen=True)
class Programs:
    """The environment of a scenario: checkout, CARLA's agents, interpreter, time limit, log folder."""

    source: Path
    agents: Path
    python: str
    limit_s: float
    logs: Path | None

    def environment(self, home: str) -> dict[str, str]:
        """Return the environment variables of scenario_runner and the driver."""
        paths = {"HOME": home, "SCENARIO_RUNNER_ROOT": str(self.source), "PYTHONPATH": f"{self.agents}:{self.source}"}
        return {**os.environ, **paths, "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "Agg"}


def xml_scenarios(source: Path) -> Iterator[Scenario]:
    """Yield every scenario of the XML files."""
    for path in sorted(source.glob("srunner/examples/*.xml")):
        for node in ElementTree.parse(path).getroot().iter("scenario"):
            name = node.attrib["name"]
            yield Scenario(f"{path.stem}/{name}", node.attrib["town"], ("--scenario", name, "--reloadWorld"))


def open_scenarios(source: Path) -> Iterator[Scenario]:
    """Yield every OpenSCENARIO 1 file."""
    for path in sorted(source.glob("srunner/examples/*.xosc")):
        node = ElementTree.parse(path).getroot().find("RoadNetwork/LogicFile")
        town = "" if node is None else node.attrib["filepath"].rsplit("/", 1)[-1].removesuffix(".xodr")
        yield Scenario(path.name, town, ("--openscenario", str(path.relative_to(source)), "--reloadWorld"))


def open_scenarios_2(source: Path) -> Iterator[Scenario]:
    """Yield every OpenSCENARIO 2 file except their common import ``basic.osc``."""
    for path in sorted(source.glob("srunner/examples/*.osc")):
        towns = re.findall(r'^(?!\s*#).*"((?:Town|Highway)\w*)"', path.read_text(encoding="utf-8"), re.MULTILINE)
        if path.stem != "basic":
            arguments = ("--openscenario2", str(path.relative_to(source)), "--reloadWorld")
            yield Scenario(path.name, towns[0] if towns else "", arguments)


def run(scenario: Scenario, port: int, programs: Programs) -> tuple[str, str]:
    """Run one scenario with a driver; returns the kind of its end and a line about it."""
    command = [programs.python, "scenario_runner.py", "--port", str(port), "--timeout", "60", "--sync", "--output"]
    command += ["--trafficManagerPort", str(port + TRAFFIC_MANAGER_BEHIND), *scenario.arguments]
    endless = scenario.name.startswith(ENDLESS)
    limit_s = ENDLESS_S if endless else programs.limit_s
    with tempfile.TemporaryDirectory() as home, _driven(scenario, port, programs, home):
        code, output = run_to_end(command, limit_s=limit_s, cwd=programs.source, env=programs.environment(home))
    if programs.logs is not None:
        log_of(scenario, programs.logs).write_text("\n".join(output), encoding="utf-8")
    kind, how = ending_of(output, code)
    if endless and (kind, how) == ("too slow", ""):
        return "ran", f"for {ENDLESS_S} s; it has no end of its own"
    return kind, how


def log_of(scenario: Scenario, folder: Path, of: str = "") -> Path:
    """Return the log file of a scenario or its driver."""
    return folder / f"{scenario.name.replace('/', '-')}{of}.txt"


def drive_of(scenario: Scenario) -> list[str]:
    """Return the driver's options for a scenario: its turn, and whether it obeys traffic lights."""
    side = re.search(r"(Left|Right)Turn|Turning(Left|Right)", scenario.name)
    turn = ["--turn", (side[1] or side[2]).lower()] if side else []
    return turn + (["--obey-lights"] if re.search("Signalized|RedLight|[.]xosc", scenario.name) else [])


@contextlib.contextmanager
def _driven(scenario: Scenario, port: int, programs: Programs, home: str) -> Iterator[None]:
    """Run the driver of the ego vehicle in this block; files of OpenSCENARIO 2 drive it themselves."""
    if scenario.name.endswith(".osc"):
        yield
        return
    output = Path(home, "driver.txt")
    with output.open("w") as into:
        driver = subprocess.Popen(
            [programs.python, str(DRIVER), str(port), *drive_of(scenario)],
            env=programs.environment(home),
            stdout=into,
            stderr=subprocess.STDOUT,
        )
        try:
            yield
            if driver.poll() is not None:
                last = (output.read_text().strip().splitlines() or ["no message"])[-1]
                print(f"the driver ended with {driver.returncode}: {last}", file=sys.stderr, flush=True)
        finally:
            driver.kill()
            driver.wait()
            if programs.logs is not None:
                shutil.copy(output, log_of(scenario, programs.logs, "-driver"))


def ending_of(lines: list[str], code: int | None) -> tuple[str, str]:
    """Return the kind of a run's end and a line about it, from its output and its exit code (None: killed at the limit)."""
    text = "\n".join(lines)
    errors = [line.strip() for line in lines if re.search(r"Error|Exception|error:", line)]
    result = re.search(r"Results of Scenario: .* ---- (\w+)", text)
    if code is None and LAST_LINE not in text:  # after that line, the client may hang while it ends
        return "too slow", errors[-1][:140] if errors else ""
    if code is not None and code < 0 and END_OF_TESTS not in text:
        return "FAIL", f"signal {-code}"
    if "Traceback" in text or result is None:
        last = (errors or [line.strip() for line in lines if line.strip()] or ["no message"])[-1]
        return ("no place" if any(word in text.lower() for word in NO_PLACE) else "FAIL"), last[:140]
    wrong = re.findall(r"│\s*([\w ]+?) \(Req\.\)\s*│[^\n]*FAILURE", text)
    ended = f"; then the client ended itself with signal {-code}" if code is not None and code < 0 else ""
    return "ran", result[1] + (f" ({', '.join(wrong)})" if wrong else "") + ended


def offered_towns(port: int, python: str) -> set[str]:
    """Return the names of the simulator's maps."""
    code = "import carla, sys; print(*carla.Client('127.0.0.1', int(sys.argv[1])).get_available_maps(), sep='\\n')"
    listed = subprocess.run([python, "-c", code, str(port)], check=True, capture_output=True, text=True).stdout
    return {name.rsplit("/", 1)[-1] for name in listed.split()}


@dataclass(frozen=True)
class Places:
    """The starts of scenarios, by scenario name.

    ``off_lane`` is the reason why one does not start on a lane; ``moved_m`` is the displacement of a moved one (None: no
    suitable position), and ``folder`` has the XML of moved ones.
    """

    off_lane: dict[str, str]
    moved_m: dict[str, float | None]
    folder: Path

    def moved(self, scenario: Scenario) -> Scenario:
        """Return the scenario to run: a moved one has a separate file and name."""
        if self.moved_m.get(scenario.name) is None:
            return scenario
        name = scenario.name.split("/")[1] + MOVED
        file = str(xml_of(scenario.name, self.folder))
        return replace(scenario, arguments=("--scenario", name, "--configFile", file, "--reloadWorld"))


def run_all(selected: list[Scenario], programs: Programs, maps: tuple[str, ...], places: Places) -> Iterator[Ending]:
    """Run scenarios in sequence, those that start on a lane first; yields their endings."""
    left = sorted(selected, key=lambda scenario: bool(places.off_lane.get(scenario.name)))
    while left:
        with running_simulator("--render", "flat", *maps) as server:
            port = server.carla_port
            towns = offered_towns(port, programs.python)
            kind = ""
            while left and kind not in ("FAIL", "too slow"):  # then a new simulator: its state is unknown
                scenario, began = left.pop(0), time.monotonic()
                off, moved_m = places.off_lane.get(scenario.name, ""), places.moved_m.get(scenario.name)
                if scenario.name in NOT_RUN:
                    kind, how = "not run", NOT_RUN[scenario.name]
                elif scenario.town not in towns:
                    kind, how = "no town", f"the simulator offers no {scenario.town}"
                elif scenario.name in places.moved_m and moved_m is None:
                    kind, how = "no place", "the town has no place with what its class asks for"
                else:
                    kind, how = run(places.moved(scenario), port, programs)
                ending_kind = "no place" if off and moved_m is None and kind in ("FAIL", "too slow") else kind
                yield Ending(
                    scenario.name, scenario.town, ending_kind, round(time.monotonic() - began), how, off, moved_m
                )


def read_results(path: Path | None) -> dict[str, Ending]:
    """Return the endings of an earlier run by name; empty without a file."""
    if path is None or not path.exists():
        return {}
    endings = [Ending(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    return {ending.name: ending for ending in endings}


def print_ending(ending: Ending) -> None:
    """Print one line."""
    print(f"{ending.name:50} {ending.town:12} {ending.kind:9} {ending.seconds:4} s  {ending.how}", end="", flush=True)
    moved = "" if ending.moved_m is None else f"; moved {ending.moved_m:.0f} m"
    print((f"; {ending.off_lane}" if ending.off_lane else "") + moved, flush=True)


def main() -> None:
    """Run the scenarios and print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m conformance.scenario_runner", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("folder", type=Path, help="checkout of scenario_runner")
    parser.add_argument("--agents", type=Path, required=True, help="PythonAPI/carla of a copy of CARLA")
    parser.add_argument("--python", default=sys.executable, help="interpreter with scenario_runner's requirements")
    parser.add_argument("--only", nargs="*", default=["*"], help="name patterns of scenarios, such as FollowLeading")
    parser.add_argument("--towns", nargs="*", help="only scenarios of these towns")
    parser.add_argument("--move", action="store_true", help="move scenarios to suitable roads of the built-in town")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds that a scenario may take")
    parser.add_argument("--maps", type=Path, help="folder of OpenDRIVE files that the simulator serves by their names")
    parser.add_argument("--results", type=Path, help="file of results; scenarios in it are not run again")
    parser.add_argument("--logs", type=Path, help="an existing folder for what each scenario and its driver print")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # stops the simulator that this program started
    programs = Programs(options.folder.resolve(), options.agents.resolve(), options.python, options.limit, options.logs)
    source = programs.source
    everything = [*xml_scenarios(source), *open_scenarios(source), *open_scenarios_2(source)]
    selected = [s for s in everything if any(fnmatch.fnmatch(s.name, f"*{p}*") for p in options.only)]
    selected = [s for s in selected if not options.towns or s.town in options.towns]
    if not selected:
        sys.exit(f"{source} holds no such scenario: it has to be a checkout of scenario_runner")
    endings = {
        name: ending for name, ending in read_results(options.results).items() if name in {s.name for s in selected}
    }
    for ending in endings.values():
        print_ending(ending)
    maps = ("--maps", str(options.maps.resolve())) if options.maps else ()
    map_of = maps_of(opendrive_texts(options.maps))
    off_lane = where_scenarios_begin(source, map_of)
    with tempfile.TemporaryDirectory() as folder:
        moved_m = move_scenarios(source, map_of, off_lane, Path(folder)) if options.move else {}
        left = [scenario for scenario in selected if scenario.name not in endings]
        for ending in run_all(left, programs, maps, Places(off_lane, moved_m, Path(folder))):
            print_ending(ending)
            endings[ending.name] = ending
            if options.results is not None:
                with options.results.open("a", encoding="utf-8") as into:
                    into.write(json.dumps(asdict(ending)) + "\n")
    counts = Counter(ending.kind for ending in endings.values())
    print(", ".join(f"{kind} {count}" for kind, count in counts.most_common()))
    ran = [ending for ending in endings.values() if ending.kind == "ran"]
    begins = Counter(
        "moved" if end.moved_m is not None else "begins off the roads" if end.off_lane else "begins on them"
        for end in ran
    )
    print(", ".join(f"ran, {where}: {count}" for where, count in begins.items()))
    print(", ".join(f"{result} {count}" for result, count in Counter(re.split(r"[ ;]", e.how)[0] for e in ran).items()))
    sys.exit(1 if counts["FAIL"] or counts["too slow"] else 0)


if __name__ == "__main__":
    main()
