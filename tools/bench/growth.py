"""Growth of costs: per image with drones, per scene and of tables with scenes, and of the pace with simulators."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import math
import os
import re
import resource
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgpack
import psutil
import yaml

from tools.bench import Row
from tools.bench.cost import watched
from tools.common.leftovers import contents, differing, events
from tools.common.small_dataset import DATASET, RIG, write_plans
from uavsim.run.request import Request
from uavsim.run.resolve import resolve
from uavsim.store.identity import keep_asked
from uavsim.store.places import open_output

__all__ = ["drones", "exponent", "intervals_of", "per_scene", "scenes", "simulators", "size", "write_swarm"]

DRONES: Final = (1, 5, 20)
TICKS: Final = 480  # ticks of every flight, divisible by all numbers of captures
PAIRS: Final = 600  # pairs of image and mask in the many captures, approximately
STEP_S: Final = 0.05
TURNS: Final = 3
SCENES: Final = (1, 10, 100)
SAMPLES: Final = 8  # of each of these scenes
SIZES: Final = (100, 1000, 10_000)  # scenes of a dataset, of which FLOWN are flown and the others are copies
FLOWN: Final = 6
SIMULATORS: Final = (1, 2, 4)
LATENCY_MS: Final = 40.0
PACED_SCENES: Final = 12
_ANGLES: Final = {"BOTTOM": (-90, 0), "FRONT": (-45, 0), "BACK": (-45, 180), "LEFT": (-45, -90), "RIGHT": (-45, 90)}
_TOKEN: Final = re.compile(rb'"([0-9a-f]{32})"')
_OF_KINDS: Final = re.compile(rb'"(?:category_token|attribute_tokens)": ?\[?"([0-9a-f]{32})"')
_TIME: Final = re.compile(rb"(?<![\d.])1[67]\d{14}(?!\d)")  # no digits of a quaternion
_HOUR_US: Final = 3_600_000_000


def exponent(before: float, after: float, *, times: float) -> float:
    """Return the exponent of growth; 1 is linear."""
    return math.log(after / before) / math.log(times)


def intervals_of(drones: int) -> int:
    """Return the number of intervals between captures: a divisor of ``TICKS`` that gives about ``PAIRS`` images."""
    ideal = PAIRS / (drones * len(_ANGLES))
    return min((n for n in range(1, TICKS + 1) if TICKS % n == 0), key=lambda n: abs(n - ideal))


def write_swarm(work: Path, drones: int, *, intervals: int) -> str:
    """Write rig, formation and dataset for runs in this working folder; returns the dataset's name."""
    name = f"bench-{intervals}"
    cameras = {name: {"pitch_deg": pitch, "yaw_deg": yaw} for name, (pitch, yaw) in _ANGLES.items()}
    texts = {
        "rigs/bench": {
            "width_px": 800, "height_px": 450, "fov_deg": 90, "sensors": ["rgb", "instance"], "cameras": cameras,
        },
        "formations/bench": {"drones": drones, "shape": "grid", "spacing_m": 6, "altitude_m": 60},
        f"datasets/{name}": {
            "version": "v1.0-mini",
            "towns": {"Town10HD": {"scenes": 1, "routes": ["town10_row3_col3"]}},
            "samples": intervals + 1,
            "keyframe_s": TICKS // intervals * STEP_S,
            "warmup_s": 0.5,
            "formation": "bench",
            "rig": "bench",
            "weather": "clear_noon",
            "traffic": {"vehicles": 15},
            "splits": {"rule": "uav3d"},
        },
    }  # fmt: skip
    for file, value in texts.items():
        path = work / "flight_plans" / f"{file}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(value))
    return name


def drones() -> Iterator[Row]:
    """Fly each swarm with two captures and with many; the difference is the cost of images. Reports minima over turns."""
    costs, cpu_s, peak_mb = [], dict[tuple[int, int], float](), dict[int, float]()
    for _, count in itertools.product(range(TURNS), DRONES):
        for intervals in (1, intervals_of(count)):
            with tempfile.TemporaryDirectory() as folder:
                dataset = write_swarm(Path(folder), count, intervals=intervals)
                seconds, peak = _generated(Path(folder), ("--dataset", dataset))
            cpu_s[count, intervals] = min(seconds, cpu_s.get((count, intervals), seconds))
            peak_mb[count] = peak
    for count in DRONES:
        pairs = (intervals_of(count) - 1) * count * len(_ANGLES)
        how = f"{count} drones, {pairs} pairs of 800x450 more on one flight of {TICKS} ticks, least of {TURNS} turns"
        costs.append(1e3 * (cpu_s[count, intervals_of(count)] - cpu_s[count, 1]) / pairs)
        yield Row(f"growth_cpu_ms_per_pair_{count}_drones", costs[-1], "ms", f"processor time of all processes: {how}")
        yield Row(f"growth_peak_mb_{count}_drones", peak_mb[count], "MB", f"most memory of all processes (PSS): {how}")
    yield Row(
        "growth_spread_drones", max(costs) / min(costs) - 1, "share", f"largest above smallest cost, {DRONES} drones"
    )


def per_scene(seconds: Mapping[int, float]) -> dict[int, float]:
    """Return the marginal cost of a scene between successive numbers of scenes, without the start."""
    counts = sorted(seconds)
    return {many: (seconds[many] - seconds[few]) / (many - few) for few, many in itertools.pairwise(counts)}


def scenes() -> Iterator[Row]:
    """Fly one, ten and a hundred short scenes."""
    cpu_s = {}
    how = f"scenes of {SAMPLES} samples, 10 flat pairs of 160x90 each, one simulator"
    for count in SCENES:
        with tempfile.TemporaryDirectory() as folder:
            write_plans(Path(folder))
            words = ("--dataset", "kill", "--samples", str(SAMPLES), "--scenes", f"0-{count - 1}")
            cpu_s[count], peak_mb = _generated(Path(folder), words, render="flat")
        yield Row(f"growth_peak_mb_{count}_scenes", peak_mb, "MB", f"most memory of all processes (PSS): {how}")
    for count, seconds in per_scene(cpu_s).items():
        yield Row(f"growth_cpu_s_per_scene_to_{count}", seconds, "s", f"all processes, a scene more: {how}")


def _generated(work: Path, words: Sequence[str], *, render: str = "full") -> tuple[float, float]:
    """Return processor seconds and peak memory of a run with one simulator that is not restarted."""
    simulator = {"kind": "mock", "arguments": ["--render", render], "recycle_scenes": 1000}
    (work / "run.yaml").write_text(yaml.safe_dump({"simulators": [simulator]}))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ("generate", *words, "--no-check", "--run", str(work / "run.yaml"), "--out", str(work / "out"))
    _, family = watched(command, work / "log", cwd=work, memory_too=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, family.peak_mb


def simulators() -> Iterator[Row]:
    """Fly the same scenes with one, two and four simulators with simulated cards, and compare the datasets."""
    paces: dict[int, float] = {}
    files: dict[int, dict[str, str]] = {}
    for count in SIMULATORS:
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            write_plans(work, scenes=PACED_SCENES)
            simulator = {"kind": "mock", "arguments": ["--render", "flat", "--render-latency", str(LATENCY_MS)]}
            (work / "run.yaml").write_text(yaml.safe_dump({"simulators": [simulator] * count, "label_threads": 2}))
            words = ("generate", "--dataset", "kill", "--samples", "6", "--no-check", "--run", f"{work}/run.yaml")
            watched((*words, "--out", f"{work}/out"), work / "log", cwd=work)
            paces[count] = pace(work / "out")
            found = contents(work / "out")  # flat images carry the server's frame numbers
            files[count] = {name: mark for name, mark in found.items() if not name.startswith("samples/CAMERA")}
    how = f"{PACED_SCENES} scenes of 6 samples, 20 flat images a capture, {LATENCY_MS:g} ms an image, take-off to last commit"
    yield Row("simulators_1_images_per_s", paces[1], "images/s", how)
    for count in SIMULATORS[1:]:
        yield Row(f"simulators_{count}_times_one", paces[count] / paces[1], "x", how)
        yield Row(
            f"simulators_{count}_files_differ", len(differing(files[1], files[count])), "files", "tables and masks"
        )


def pace(out: Path) -> float:
    """Return images per second from the first take-off to the last commit."""
    reported = [event for scene in events(out).values() for event in scene]
    began = min(float(str(e["time"])) for e in reported if e["event"] == "flying")
    committed = [e for e in reported if e["event"] == "committed"]
    ended = max(float(str(e["time"])) for e in committed)
    return sum(int(str(e["images"])) for e in committed) / (ended - began)


def size() -> Iterator[Row]:
    """Read and write datasets of very many scenes; reports exponents of processor seconds."""
    before: dict[str, float] = {}
    for last, count in itertools.pairwise((0, *SIZES)):
        with tempfile.TemporaryDirectory(dir=os.environ.get("UAVSIM_BENCH_FOLDER")) as folder:
            root = many_scenes(Path(folder), count)
            out = ("--dataset", "kill", "--out", str(root))
            for command, words in {
                "tables": ("generate", *out, "--no-check", "--quiet"),
                "resume": ("generate", *out, "--dry-run"),
                "status": ("status", str(root)),
                "validate": ("validate", str(root), "--no-pixels"),
                "publish": ("publish", str(root), "--out", f"{folder}/pack"),
            }.items():
                wall_s, cpu_s, peak_mb = _measured(Path(folder), words)
                how = f"uavsim {words[0]}, {count} scenes of 3 samples, {FLOWN} flown and the others copies"
                yield Row(f"size_{command}_s_{count}", wall_s, "s", how)
                yield Row(f"size_{command}_mb_{count}", peak_mb, "MB", f"largest process: {how}")
                if last:
                    power = exponent(before[command], cpu_s, times=count / last)
                    yield Row(f"size_{command}_exponent_{count}", power, "power", f"from {last} scenes: {how}")
                before[command] = cpu_s


def _measured(work: Path, words: Sequence[str]) -> tuple[float, float, float]:
    """Return wall seconds, processor seconds and peak MB of the largest process of a command."""
    began = time.perf_counter()
    with (work / "log").open("wb") as log:
        process = psutil.Popen([sys.executable, "-m", "uavsim", *words], cwd=work, stdout=log, stderr=log)
        _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"uavsim {words[0]} failed: {(work / 'log').read_text()[-300:]}")
    return time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def many_scenes(work: Path, count: int) -> Path:
    """Fly a few scenes of a large dataset and copy the others with new names, numbers, tokens and times."""
    write_plans(work, dataset=DATASET.replace("most_scenes: 100", f"most_scenes: {count}"), scenes=count)
    (work / "flight_plans/rigs/tiny.yaml").write_text(RIG.replace("160", "32").replace("90\n", "18\n", 1))
    root = work / "out"
    words = ("--dataset", "kill", "--out", str(root), "--scenes", f"0-{FLOWN - 1}", "--no-check", "--quiet")
    watched(("generate", *words), work / "log", cwd=work)
    with contextlib.chdir(work):  # finds its YAML
        job = resolve(Request(dataset="kill", out=str(root)))
    copies = Copies(root)
    for scene in job.scenes[FLOWN:]:
        copies.copy(scene.index, digest=job.plans[scene.name].digest)
    keep_asked(open_output(str(root)), [scene.name for scene in job.scenes])
    return root


class Copies:
    """Copies of a dataset's flown scenes."""

    def __init__(self, root: Path) -> None:
        self.root, self.notes = root, root / ".uavsim"
        packed = [msgpack.unpackb((self.notes / f"fragments/{name(n)}.msgpack").read_bytes()) for n in range(FLOWN)]
        self.texts = [{table: zlib.decompress(text) for table, text in one["tables"].items()} for one in packed]
        held = Counter(t for one in self.texts for t in set(_TOKEN.findall(b"".join(one.values()))))
        self.shared = {token for token, count in held.items() if count > 1}  # of sensors, visibilities and the like
        self.shared |= {t for one in self.texts for t in _OF_KINDS.findall(b"".join(one.values()))}
        self.packed = packed

    def copy(self, number: int, *, digest: str) -> None:
        """Add one scene in its committed state."""
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
