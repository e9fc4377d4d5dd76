"""Open, continue and read a dataset of very many scenes, and say how each cost grows with their number.

    scripts/trial size [--scenes 10,100,1000,10000] [--samples 2] [--pixels] [--work FOLDER]

Six scenes are flown. The others are copies of them under their own names, numbers, tokens, times and plans' digests; their
files are hard links. A command on such a folder reads and writes what it would on flown scenes, but no flight is measured.
What is evaluated are the true boxes, each found once. ``--pixels`` validates images, too, which finds the copies.
Exit code 1 where ``status`` takes 2 s, a resume 10 s, or any command 2 GB, or where a command fails. Exponents are of
processor seconds.
"""

import argparse
import hashlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgpack

from tools.common.small_dataset import write_plans
from uavsim.dataset.tables import iter_rows
from uavsim.run.request import Request
from uavsim.run.resolve import resolve
from uavsim.store.identity import keep_asked
from uavsim.store.places import open_output
from uavsim.typing import JsonDict

FLOWN: Final = 6
MOST_S: Final = {"status": 2.0, "resume": 10.0}
MOST_MB: Final = 2000
RIG: Final = (
    "width_px: 32\nheight_px: 18\nfov_deg: 90\nsensors: [rgb, instance]\ncameras:\n  BOTTOM: {pitch_deg: -90}\n"
)
DATASET: Final = """
description: Very many short scenes.
seed: 5
version: v1.0-mini
towns:
  Town10HD: {routes: [town10_row3_col3, town10_row2_col3], scenes: SCENES, most_scenes: SCENES}
samples: SAMPLES
keyframe_s: 0.5
warmup_s: 0.5
formation: cross
rig: tiny
weather: clear_noon
traffic: {vehicles: 3}
splits: {rule: uav3d}
"""
OPEN: Final = "import sys, uavsim; d = uavsim.open(sys.argv[1]); list(next(iter(d.scene(d.scene_names[-1]))).images)"
_INVALID: Final = 4
_OF_BOX: Final = ("sample_token", "translation", "size", "rotation")
_TOKEN: Final = re.compile(rb'"([0-9a-f]{32})"')
_TIME: Final = re.compile(rb"(?<![\d.])1[67]\d{14}(?!\d)")  # no digits of a quaternion
_HOUR_US: Final = 3_600_000_000


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds, those of processors, and most memory of a command's largest process."""

    wall_s: float
    processor_s: float
    peak_mb: float


def command(work: Path, *words: str, module: tuple[str, ...] = ("-m", "uavsim"), codes: tuple[int, ...] = (0,)) -> Cost:
    """Run ``uavsim``, or something else in Python, that ends with one of these codes, and measure it.

    Raises:
        SystemExit: it failed.
    """
    begun = time.perf_counter()
    with (work / "log").open("wb") as log:
        process = subprocess.Popen((sys.executable, *module, *words), cwd=work, stdout=log, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    cost = Cost(time.perf_counter() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
    if process.returncode not in codes:
        sys.exit(f"{' '.join((*module, *words))}: exit code {process.returncode}\n{(work / 'log').read_text()[-2000:]}")
    return cost


class Copies:
    """Copies of a dataset's flown scenes."""

    def __init__(self, root: Path) -> None:
        self.root, self.notes = root, root / ".uavsim"
        packed = [msgpack.unpackb((self.notes / f"fragments/{name(n)}.msgpack").read_bytes()) for n in range(FLOWN)]
        self.texts = [{table: zlib.decompress(text) for table, text in one["tables"].items()} for one in packed]
        held = Counter(t for one in self.texts for t in set(_TOKEN.findall(b"".join(one.values()))))
        self.shared = {token for token, count in held.items() if count > 1}  # of categories, sensors and the like
        self.packed = packed

    def copy(self, number: int, *, digest: str) -> None:
        """Add one scene, as its commit would leave it."""
        source = number % FLOWN
        old, new = name(source), name(number)

        def of(text: bytes) -> bytes:
            renamed = text.replace(old.encode(), new.encode())
            later = _TIME.sub(lambda m: b"%d" % (int(m[0]) + (number - source) * _HOUR_US), renamed)
            return _TOKEN.sub(lambda m: m[0] if m[1] in self.shared else b'"%s"' % self._token(m[1], new), later)

        packed = dict(self.packed[source])
        log_token = self._token(packed["head"]["log_token"].encode(), new).decode()
        packed["head"] = packed["head"] | {"scene": new, "scene_index": number}
        packed["head"]["log_token"] = log_token
        packed["tables"] = {table: zlib.compress(of(text), 1) for table, text in self.texts[source].items()}
        (self.notes / f"fragments/{new}.msgpack").write_bytes(msgpack.packb(packed))
        manifest = json.loads((self.notes / f"manifests/{old}~0.json").read_bytes())
        files = {of(key.encode()).decode(): (key, mark) for key, mark in manifest["files"].items()}
        for key, (before, mark) in files.items():
            if "/fragments/" in key:
                stat = (self.root / key).stat()
                files[key] = (before, [stat.st_size, stat.st_mtime_ns])
                continue
            (self.root / key).parent.mkdir(parents=True, exist_ok=True)
            os.link(self.root / before, self.root / key)
            files[key] = (before, mark)
        marks = {"files": {key: mark for key, (_, mark) in sorted(files.items())}}
        (self.notes / f"manifests/{new}~0.json").write_text(json.dumps(marks))
        entry = json.loads((self.notes / f"ledger/{old}.json").read_bytes())
        entry |= {"scene": new, "index": number, "plan_sha256": digest}
        (self.notes / f"ledger/{new}.json").write_text(json.dumps(entry, indent=1))

    @staticmethod
    def _token(token: bytes, scene: str) -> bytes:
        return hashlib.md5(token + scene.encode(), usedforsecurity=False).hexdigest().encode()


def name(number: int) -> str:
    """Return a scene's name."""
    return f"scene_{number:04d}"


def made(work: Path, scenes: int, *, samples: int) -> Path:
    """Fly a few scenes of a dataset of so many and copy the rest."""
    dataset = DATASET.replace("SCENES", str(scenes)).replace("SAMPLES", str(samples))
    write_plans(work, name=f"size{scenes}", dataset=dataset)
    (work / "flight_plans/rigs/tiny.yaml").write_text(RIG)
    root = work / f"out{scenes}"
    words = ("--dataset", f"size{scenes}", "--out", str(root))
    command(work, "generate", *words, "--scenes", f"0-{FLOWN - 1}", "--no-check", "--quiet")
    os.chdir(work)
    job = resolve(Request(dataset=f"size{scenes}", out=str(root)))
    copies = Copies(root)
    for scene in job.scenes[FLOWN:]:
        copies.copy(scene.index, digest=job.plans[scene.name].digest)
    keep_asked(open_output(str(root)), [scene.name for scene in job.scenes])
    return root


def found_all(root: Path) -> Path:
    """Write a result that holds every true box of a dataset."""
    tables = root / "v1.0-mini"
    found: dict[str, list[JsonDict]] = {row["token"]: [] for row in iter_rows(tables / "sample.json")}
    own = {"velocity": [0.0, 0.0], "detection_name": "car", "attribute_name": "", "detection_score": 0.5}
    for row in iter_rows(tables / "sample_annotation.json"):
        found[row["sample_token"]].append(own | {key: row[key] for key in _OF_BOX})
    result = root.with_suffix(".results.json")
    result.write_text(json.dumps({"meta": {}, "results": found}))
    return result


def costs(work: Path, scenes: int, *, samples: int, pixels: bool) -> Iterator[tuple[str, Cost]]:
    """Run every command on a dataset of so many scenes; yields each when it has ended."""
    root = made(work, scenes, samples=samples)
    out = ("--dataset", f"size{scenes}", "--out", str(root))
    yield "plan", command(work, "generate", "--dataset", f"size{scenes}", "--dry-run", "--out", str(work / "none"))
    yield "tables", command(work, "generate", *out, "--no-check", "--quiet")
    yield "resume", command(work, "generate", *out, "--dry-run")
    yield "status", command(work, "status", str(root))
    yield "validate", command(work, "validate", str(root), "--no-pixels")
    if pixels:
        yield "pixels", command(work, "validate", str(root), codes=(0, _INVALID))
    result = found_all(root)
    yield "evaluate", command(work, "evaluate", "swarm", "--truth", str(root), "--results", str(result), "--quiet")
    yield "report", command(work, "report", str(root), "--out", str(work / "report.html"))
    yield "open", command(work, str(root), module=("-c", OPEN))
    yield "view", command(work, "view", str(root), "--scene", name(scenes - 1), "--save", str(work / "last.rrd"))
    yield "publish", command(work, "publish", str(root), "--out", str(work / "pack"))
    shutil.rmtree(work / "pack")
    shutil.rmtree(root)


def main() -> None:
    """Measure, print one line each, and compare with the bounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", default="10,100,1000,10000")
    parser.add_argument("--samples", type=int, default=2, help="of a scene")
    parser.add_argument("--pixels", action="store_true")
    parser.add_argument("--work", type=Path)
    given = parser.parse_args()
    counts = [int(word) for word in given.scenes.split(",")]
    failed, before = False, dict[str, Cost]()
    with tempfile.TemporaryDirectory(dir=given.work) as folder:
        for at, count in enumerate(counts):
            for what, cost in costs(Path(folder), count, samples=given.samples, pixels=given.pixels):
                late = count == max(counts) and cost.wall_s >= MOST_S.get(what, math.inf)
                failed |= late or cost.peak_mb >= MOST_MB
                grown = ""
                if what in before:
                    exponent = math.log(cost.processor_s / before[what].processor_s) / math.log(count / counts[at - 1])
                    grown = f", exponent {exponent:.2f}"
                missed = " MISSED" if late or cost.peak_mb >= MOST_MB else ""
                used = f"{cost.wall_s:8.2f} s {cost.processor_s:8.2f} cpu-s {cost.peak_mb:7.0f} MB"
                sys.stdout.write(f"{count:6d} {what:9s} {used}{grown}{missed}\n")
                sys.stdout.flush()
                before[what] = cost
    sys.exit(int(failed))
