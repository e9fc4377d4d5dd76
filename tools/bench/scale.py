"""Speed of two and four headless simulators beside one: the same scenes, by cameras that take their time.

A camera's pause stands in for a graphics card that computes elsewhere; the images themselves are cheap (--render flat), so
that this machine's cores are not the limit. The pace is images over the time from the first take-off to the last commit. The
datasets must be equal, byte for byte. Wanted: 1.9 times with two, 3.6 times with four.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from tools.bench.rows import Row
from tools.common.leftovers import contents, differing, events
from tools.common.small_dataset import write_plans
from uavsim.flows.server import prefect_server

COUNTS: Final = (1, 2, 4)
SCENES: Final = 12
LATENCY_MS: Final = 40.0


def rows() -> Iterator[Row]:
    """Fly the same scenes with each number of simulators."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            reported = compared(COUNTS, latency_ms=LATENCY_MS, scenes=SCENES, work=Path(folder))
        except subprocess.CalledProcessError as error:
            raise RuntimeError(f"uavsim generate ended with code {error.returncode}") from error
    how = (
        f"{SCENES} scenes of 6 samples, 20 flat images a capture and {LATENCY_MS:g} ms an image, from first take-off to last "
        "commit"
    )
    yield Row("scale_1_images_per_s", reported.paces[1], "images/s", how)
    for count in COUNTS[1:]:
        yield Row(
            f"scale_{count}_times_one", reported.paces[count] / reported.paces[1], "x", f"{count} simulators; {how}"
        )
    yield Row(
        "scale_files_differ", reported.differing, "files", f"tables and masks, against those of one simulator; {how}"
    )


def pace(out: Path) -> float:
    """Return images per second from the first take-off to the last commit."""
    reported = [event for scene in events(out).values() for event in scene]
    began = min(float(str(e["time"])) for e in reported if e["event"] == "flying")
    committed = [e for e in reported if e["event"] == "committed"]
    ended = max(float(str(e["time"])) for e in committed)
    return sum(int(str(e["images"])) for e in committed) / (ended - began)


def all_but_images(out: Path) -> dict[str, str]:
    """Hash what must be equal: flat images carry the server's frame numbers, masks and tables nothing of the run."""
    return {name: digest for name, digest in contents(out).items() if not name.startswith("samples/CAMERA")}


@dataclass(frozen=True, slots=True)
class Compared:
    """The speeds of each number of simulators.

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
        work: folder for datasets and logs.
    """
    write_plans(work)
    paces: dict[int, float] = {}
    sets: dict[int, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as home, prefect_server(Path(home)) as server:
        env = {**os.environ, "PREFECT_API_URL": server.api, "PREFECT_API_AUTH_STRING": server.key}
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
