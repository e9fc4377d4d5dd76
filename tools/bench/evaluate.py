"""Our nuScenes evaluation beside the devkit's on one result; ``tools.bench.evaluate FOLDER BENCHMARK`` scores one."""

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.bench.evaluate_cases import BOXES, PREDICTIONS, SPLIT, VERSION, write_case
from tools.bench.rows import Row, in_own_process
from tools.common import ROOT
from uavsim_benchmarks.evaluate.metrics import evaluate
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest

BESIDE_DEVKIT = {"detection": 40, "tracking": 20}  # samples; the devkit needs seconds for each
GROWTH = (400, 1600)
LARGE = 20_000
ON_LARGE = {
    "detection": ("nuscenes-detection", "uav3d", "coperception-uav", "swarm"),
    "tracking": ("nuscenes-tracking",),
}


def rows() -> Iterator[Row]:
    """Compare with the devkit, then let the number of samples grow fourfold."""
    for task, samples in BESIDE_DEVKIT.items():
        with tempfile.TemporaryDirectory() as name:
            folder = write_case(Path(name), task, samples)
            ours = in_own_process("evaluate", str(folder), f"nuscenes-{task}")
            theirs = _devkit_cpu_s(folder, task)
        how = (
            f"processor time, {samples} samples, {BOXES} boxes and {PREDICTIONS} predictions each, from file to figures"
        )
        yield Row(f"evaluate {task}: devkit", theirs, "s", how)
        yield Row(f"evaluate {task}: ours", ours["cpu_s"], "s", how)
        yield Row(f"evaluate {task}: times as fast as the devkit", theirs / ours["cpu_s"], "x", how)
    for task in BESIDE_DEVKIT:
        reported = []
        for samples in GROWTH:
            with tempfile.TemporaryDirectory() as name:
                folder = write_case(Path(name), task, samples)
                reported.append(in_own_process("evaluate", str(folder), f"nuscenes-{task}"))
        how = f"processor time, {GROWTH[0]} and {GROWTH[1]} samples, {BOXES} boxes and {PREDICTIONS} predictions each"
        per_sample = [run["cpu_s"] / samples for run, samples in zip(reported, GROWTH, strict=True)]
        yield Row(f"evaluate {task}: a sample", 1e3 * per_sample[1], "ms", f"{GROWTH[1]} samples")
        yield Row(f"evaluate {task}: growth a sample", per_sample[1] / per_sample[0], "x", f"{how}; linear is 1")
        yield Row(f"evaluate {task}: peak memory", reported[1]["peak_mb"], "MB", f"{GROWTH[1]} samples")


def large() -> Iterator[Row]:
    """Score 1,000 scenes' worth with every benchmark on a dataset, each in a process of its own."""
    how = f"{LARGE} samples, {BOXES} boxes and {PREDICTIONS} predictions each, from file to figures"
    for task, benchmarks in ON_LARGE.items():
        with tempfile.TemporaryDirectory() as name:
            folder = write_case(Path(name), task, LARGE)
            for benchmark in benchmarks:
                reported = in_own_process("evaluate", str(folder), benchmark)
                yield Row(
                    f"evaluate {benchmark}: {LARGE} samples", reported["cpu_s"] / 60, "min", f"processor time, {how}"
                )
                yield Row(f"evaluate {benchmark}: peak memory", reported["peak_mb"], "MB", how)


def _devkit_cpu_s(folder: Path, task: str) -> float:
    """Return the processor time of the devkit's own evaluation, from file to figures, its start included as ours is."""
    cases = folder / "cases.json"
    cases.write_text(json.dumps([{"task": task, "split": SPLIT, "results": str(folder / "results.json")}]))
    command = [
        ROOT / ".venv-judge/bin/python",
        "-W",
        "ignore",
        ROOT / "packages/benchmarks/reference/reference_scores.py",
        folder,
        VERSION,
        cases,
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"the devkit ended with code {done.returncode}: {done.stderr.strip()[-200:]}")
    if "error" in json.loads(done.stdout)[0]:
        raise RuntimeError(f"the devkit refuses the case: {json.loads(done.stdout)[0]['error']}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Score the case in a folder; print processor seconds, the start included, and peak memory."""
    folder, benchmark = Path(sys.argv[1]), sys.argv[2]
    outcome = evaluate(benchmark, EvaluationRequest(folder, folder / "results.json", split=SPLIT))
    used = resource.getrusage(resource.RUSAGE_SELF)
    scores = {name: outcome.scores[name] for name in outcome.headline[:2]}
    reported = {"cpu_s": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024, **scores}
    sys.stdout.write(json.dumps(reported) + "\n")


if __name__ == "__main__":
    main()
