"""Run CARLA's scenario_runner, unchanged, against the headless simulator and print what became of each scenario.

    scripts/run_scenario_runner [--source FOLDER] [--agents FOLDER] [--environment FOLDER] [--only PATTERN ...]
                                [--limit 300] [--maps FOLDER] [--town NAME ...]

--source is a checkout of scenario_runner 0.9.16; without it git fetches one. --agents is PythonAPI/carla of a copy of CARLA
0.9.16, which scenario_runner imports; without it git fetches that too. Its requirements are installed once, into an
environment of their own (uv). All XML scenarios and OpenSCENARIO files of its examples run whose town the simulator offers.

Nobody drives the ego vehicle in scenario_runner; here CARLA's BasicAgent does, in a process of its own. A scenario that
runs to its end is "ran", with what scenario_runner's criteria say of the drive. One that ends in an exception is "FAIL".
A place that is taken or no road in a look-alike of CARLA's town is "no place". Ends with 0 only if none failed.
"""

from __future__ import annotations

import argparse
import fnmatch
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
from dataclasses import dataclass
from pathlib import Path

from trials.served import simulator

SOURCE = "https://github.com/carla-simulator/scenario_runner"
CARLA = "https://github.com/carla-simulator/carla"
VERSION = "0.9.16"
REQUIREMENTS = (  # of scenario_runner 0.9.16; numpy and OpenCV in versions that Python 3.11 and 3.12 have
    "carla==0.9.16", "py-trees==0.8.3", "networkx==3.4.2", "Shapely==2.1.1", "psutil", "xmlschema==1.0.18", "ephem",
    "tabulate", "matplotlib", "six", "simple-watchdog-timer", "antlr4-python3-runtime==4.10", "graphviz", "packaging",
    "numpy<2", "opencv-python-headless<4.12", "setuptools<81",
)  # fmt: skip
NO_PLACE = (
    "unable to spawn",
    "could not spawn",
    "spawn position",
    "error: unable to",
    "no more locations",
    "spawn_actor",
)
DRIVER = """
import sys, time, random
import carla
from agents.navigation.basic_agent import BasicAgent
client = carla.Client('127.0.0.1', int(sys.argv[1])); client.set_timeout(30)
random.seed(0); agent = None; ego = None
while True:
    try:
        world = client.get_world(); world.wait_for_tick(30)
        if ego is None or not ego.is_alive:
            agent = None
            ego = next((a for a in world.get_actors().filter('vehicle.*') if a.attributes.get('role_name') == 'hero'), None)
        if ego is None:
            continue
        if agent is None or agent.done():
            agent = BasicAgent(ego, 30)
            agent.set_destination(random.choice(world.get_map().get_spawn_points()).location)
        ego.apply_control(agent.run_step())
    except Exception:  # the scenario is being taken down, or its world is loaded
        agent = ego = None; time.sleep(0.2)
"""


@dataclass(frozen=True)
class Scenario:
    """One thing to run."""

    name: str
    town: str
    arguments: tuple[str, ...]


def xml_scenarios(source: Path) -> Iterator[Scenario]:
    """Every scenario of the XML files."""
    for path in sorted(source.glob("srunner/examples/*.xml")):
        for node in ElementTree.parse(path).getroot().iter("scenario"):
            name = node.attrib["name"]
            yield Scenario(f"{path.stem}/{name}", node.attrib["town"], ("--scenario", name, "--reloadWorld"))


def open_scenarios(source: Path) -> Iterator[Scenario]:
    """Every OpenSCENARIO 1 file."""
    for path in sorted(source.glob("srunner/examples/*.xosc")):
        node = ElementTree.parse(path).getroot().find("RoadNetwork/LogicFile")
        town = "" if node is None else node.attrib["filepath"].rsplit("/", 1)[-1].removesuffix(".xodr")
        yield Scenario(path.name, town, ("--openscenario", str(path.relative_to(source)), "--reloadWorld"))


def fetched(url: str, folder: Path, *, part: str = "") -> Path:
    """Fetch the version of a repository, or a part of it, unless it is there."""
    if not folder.is_dir():
        what = ["git", "clone", "--quiet", "--depth", "1", "--branch", VERSION]
        subprocess.run([*what, *(["--filter=blob:none", "--sparse"] if part else []), url, str(folder)], check=True)
        if part:
            subprocess.run(["git", "-C", str(folder), "sparse-checkout", "set", part], check=True)
    return folder / part


def made_environment(folder: Path) -> Path:
    """Make the environment of scenario_runner, unless it is there; returns its interpreter."""
    python, done = folder / "bin" / "python", folder / "made-by-uavsim"
    if not done.is_file() or done.read_text() != "\n".join(REQUIREMENTS):
        uv = shutil.which("uv") or sys.exit("uv is not there: run scripts/setup first")
        subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)], check=True)
        subprocess.run([uv, "pip", "install", "--quiet", "--python", str(python), *REQUIREMENTS], check=True)
        done.write_text("\n".join(REQUIREMENTS))
    return python


def run(scenario: Scenario, port: int, *, source: Path, agents: Path, python: Path, limit_s: float) -> tuple[str, str]:
    """Run one scenario with somebody at the wheel; returns the kind of its end and a line about it."""
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryFile("w+") as said:
        environment = {
            **os.environ, "HOME": home, "SCENARIO_RUNNER_ROOT": str(source), "PYTHONPATH": f"{agents}:{source}",
            "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "Agg",
        }  # fmt: skip
        command = [str(python), "scenario_runner.py", "--port", str(port), "--trafficManagerPort", str(port + 600)]
        command += ["--sync", "--timeout", "60", "--output", *scenario.arguments]
        driver = subprocess.Popen(
            [str(python), "-c", DRIVER, str(port)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        process = subprocess.Popen(command, cwd=source, env=environment, stdout=said, stderr=subprocess.STDOUT)
        try:
            code: int | None = process.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            for started in (process, driver):
                started.kill()
                started.wait()
        said.seek(0)
        return ending_of(said.read(), code)


def ending_of(text: str, code: int | None) -> tuple[str, str]:
    """Say how a run ended, from what it printed and its exit status."""
    trouble = [line.strip() for line in text.splitlines() if re.search(r"Error|Exception|error:", line)]
    result = re.search(r"Results of Scenario: .* ---- (\w+)", text)
    if code is None:
        return "too slow", trouble[-1][:140] if trouble else ""
    if code < 0:
        return "FAIL", f"signal {-code}"
    if "Traceback" in text or result is None:
        last = (trouble or text.strip().splitlines() or [""])[-1]
        return ("no place" if any(word in last.lower() for word in NO_PLACE) else "FAIL"), last[:140]
    wrong = re.findall(r"│\s*([\w ]+?) \(Req\.\)\s*│\s*FAILURE", text)
    return "ran", result[1] + (f" ({', '.join(wrong)})" if wrong else "")


def offered_towns(port: int, python: Path) -> set[str]:
    """Names of the maps that the simulator has."""
    code = "import carla, sys; print(*carla.Client('127.0.0.1', int(sys.argv[1])).get_available_maps(), sep='\\n')"
    listed = subprocess.run([str(python), "-c", code, str(port)], check=True, capture_output=True, text=True).stdout
    return {name.rsplit("/", 1)[-1] for name in listed.split()}


def main() -> None:
    """Run them and print a table."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "uavsim-trials")
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--source", type=Path, help="checkout of scenario_runner")
    parser.add_argument("--agents", type=Path, help="PythonAPI/carla of a copy of CARLA")
    parser.add_argument("--environment", type=Path, default=cache / "scenario_runner-environment")
    parser.add_argument("--only", nargs="*", default=["*"], help="patterns of names, such as FollowLeading*")
    parser.add_argument("--town", nargs="*", help="only scenarios of these towns")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds that a scenario may take")
    parser.add_argument("--maps", type=Path, help="folder of OpenDRIVE files that the simulator serves by their names")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was started here is ended here
    source = (options.source or fetched(SOURCE, cache / "scenario_runner")).resolve()
    agents = (options.agents or fetched(CARLA, cache / "carla", part="PythonAPI/carla")).resolve()
    python = made_environment(options.environment.resolve())
    everything = [*xml_scenarios(source), *open_scenarios(source)]
    wanted = [s for s in everything if any(fnmatch.fnmatch(s.name, f"*{p}*") for p in options.only)]
    wanted = [s for s in wanted if not options.town or s.town in options.town]
    maps = ("--maps", str(options.maps.resolve())) if options.maps else ()
    counts, left = Counter[str](), list(wanted)
    while left:
        with simulator(*maps) as port:
            towns = offered_towns(port, python)
            while left:
                scenario, began = left.pop(0), time.monotonic()
                if scenario.town not in towns:
                    kind, how = "no town", f"the simulator offers no {scenario.town}"
                else:
                    kind, how = run(scenario, port, source=source, agents=agents, python=python, limit_s=options.limit)
                counts[kind] += 1
                seconds = time.monotonic() - began
                print(f"{scenario.name:50} {scenario.town:10} {kind:8} {seconds:4.0f} s  {how}", flush=True)
                if kind in ("FAIL", "too slow"):
                    break  # a new simulator: this one may have been left in any state
    print(", ".join(f"{kind} {count}" for kind, count in counts.most_common()))
    sys.exit(1 if counts["FAIL"] or counts["too slow"] else 0)


if __name__ == "__main__":
    main()
