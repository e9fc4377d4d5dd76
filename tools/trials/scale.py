"""Fly the same scenes with 1, 2 and 4 headless simulators whose cameras take their time, and compare the pace.

    scripts/scale_test [--counts 1,2,4] [--latency-ms 40] [--scenes 12] [--work FOLDER]

A camera's pause stands in for a graphics card that computes elsewhere; the images themselves are cheap (--render flat), so
that this machine's cores are not the limit. The pace is images over the time from the first take-off to the last commit. The
data sets must be equal, byte for byte.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from tools.trials.leftovers import contents, differing, events
from tools.trials.small_dataset import write_plans
from uavsim.flows.server import TemporaryServer

WANTED = {1: 1.0, 2: 1.9, 4: 3.6}


def pace(out: Path) -> float:
    """Return images per second from the first take-off to the last commit."""
    told = [event for scene in events(out).values() for event in scene]
    began = min(float(str(e["time"])) for e in told if e["event"] == "flying")
    committed = [e for e in told if e["event"] == "committed"]
    ended = max(float(str(e["time"])) for e in committed)
    return sum(int(str(e["images"])) for e in committed) / (ended - began)


def all_but_images(out: Path) -> dict[str, str]:
    """Hash what must be equal: flat images carry the server's frame numbers, masks and tables nothing of the run."""
    return {name: digest for name, digest in contents(out).items() if not name.startswith("samples/CAMERA")}


@dataclass(frozen=True, slots=True)
class Compared:
    """How each number of simulators did.

    Attributes:
        paces: images a second.
        differing: files that are not those of the fewest simulators.
    """

    paces: dict[int, float]
    differing: int


def compared(counts: Sequence[int], *, latency_ms: float, scenes: int, work: Path) -> Compared:
    """Fly the same scenes with each number of simulators.

    Args:
        counts: of simulators.
        latency_ms: of an image.
        scenes: in all.
        work: folder for data sets and logs.
    """
    write_plans(work)
    paces: dict[int, float] = {}
    sets: dict[int, dict[str, str]] = {}
    with TemporaryServer() as server:
        env = {**os.environ, "PREFECT_API_URL": server.wait(), "PREFECT_API_AUTH_STRING": server.key}
        for count in counts:
            simulator = {"kind": "mock", "arguments": ["--render", "flat", "--render-latency", str(latency_ms)]}
            run, out = work / f"run-{count}.yaml", work / f"out-{count}"
            run.write_text(yaml.safe_dump({"simulators": [simulator] * count, "label_threads": 2}))
            command = [sys.executable, "-m", "uavsim", "generate", "--dataset", "kill", "--samples", "6", "--no-check"]
            command += ["--scenes", f"0-{scenes - 1}", "--run", str(run), "--out", str(out)]
            with (work / f"run-{count}.log").open("wb") as log:
                subprocess.run(command, cwd=work, env=env, check=True, stdout=log, stderr=log)
            paces[count], sets[count] = pace(out), all_but_images(out)
            ratio = paces[count] / paces[min(paces)]
            print(
                f"{count} simulators: {paces[count]:.2f} images/s, {ratio:.2f} times one", file=sys.stderr, flush=True
            )
    return Compared(paces, sum(len(differing(sets[min(sets)], files)) for files in sets.values()))


def main() -> int:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--counts", default="1,2,4")
    parser.add_argument("--latency-ms", type=float, default=40.0)
    parser.add_argument("--scenes", type=int, default=12)
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    work: Path = options.work or Path(tempfile.mkdtemp(prefix="uavsim-scale-"))
    counts = tuple(map(int, options.counts.split(",")))
    told = compared(counts, latency_ms=options.latency_ms, scenes=options.scenes, work=work)
    paces, equal = told.paces, not told.differing
    fast = all(paces[count] >= WANTED.get(count, 0.0) * paces[min(paces)] for count in paces)
    print(f"tables and masks {'equal' if equal else 'DIFFER'}; {'fast enough' if fast else 'TOO SLOW'}")
    return 0 if equal and fast else 1


if __name__ == "__main__":
    sys.exit(main())
