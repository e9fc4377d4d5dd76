# ruff: noqa: T201 - printing is its job
"""Feed everything that reads with what nobody would write: any exception that is not ours is a finding.

Each target takes a good input, changed at random: bits turned, pieces cut, doubled and exchanged, numbers and texts of its
structure replaced by others that were a trouble before. Time and memory of every input are bounded.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack
import numpy as np

from tests.dataset_factory import make_dataset, write_log
from tests.factories import make_recording
from uavsim.errors import UavsimError

SLOW_S = 20.0
MEMORY_BYTES = 6 << 30
NASTY: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63 - 1, -(2**63), 10**30, 1e308, -1e308, float("nan"), float("inf"), "", "x" * 5000,
    "../../x", "/etc/passwd", "\0", "\ud800", "\x1b[31m", [], {}, [[]], [None] * 3, ["a", "b", "c"], [0, 0, 0, 0], {"a": {}},
]  # fmt: skip


@dataclass
class Target:
    """What is fed: a good input, a function that reads one, and how inputs are changed."""

    good: list[bytes]
    read: Callable[[bytes], object]
    change: Callable[[bytes, random.Random], bytes]


def turn_bytes(data: bytes, rng: random.Random) -> bytes:
    """Change bytes: flip, cut, double, insert, exchange."""
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        if not changed:
            return bytes(rng.randrange(256) for _ in range(rng.randrange(64)))
        at, size = rng.randrange(len(changed)), rng.choice([1, 2, 4, 8, 64, 1024])
        kind = rng.randrange(5)
        if kind == 0:
            changed[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del changed[at : at + size]
        elif kind == 2:
            changed[at:at] = changed[at : at + size]
        elif kind == 3:
            changed[at : at + size] = bytes(rng.randrange(256) for _ in range(size))
        else:
            changed[at : at + 4] = rng.choice([b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\xff\xff\xff", b"\x80\0\0\0"])
    return bytes(changed)


def spoil(value: Any, rng: random.Random, *, share: float) -> Any:
    """Replace some parts of a structure."""
    if rng.random() < share:
        return rng.choice(NASTY)
    if isinstance(value, dict):
        kept = {key: spoil(item, rng, share=share) for key, item in value.items() if rng.random() > share / 4}
        return kept | ({rng.choice(["x", "", "token"]): rng.choice(NASTY)} if rng.random() < share else {})
    if isinstance(value, list):
        items = [spoil(item, rng, share=share) for item in value]
        return items + items[:1] if rng.random() < share else items
    return value


def turn_json(data: bytes, rng: random.Random) -> bytes:
    """Change a JSON text by its structure, or by its bytes."""
    if rng.random() < 0.3:
        return turn_bytes(data, rng)
    value = spoil(json.loads(data), rng, share=rng.choice([0.001, 0.01, 0.1]))
    return json.dumps(value).encode("utf-8", "surrogatepass")


def turn_msgpack(data: bytes, rng: random.Random) -> bytes:
    """Change msgpack by its structure, or by its bytes."""
    if rng.random() < 0.4:
        return turn_bytes(data, rng)
    share = rng.choice([0.001, 0.01, 0.1])
    values = [spoil(value, rng, share=share) for value in msgpack.Unpacker(io.BytesIO(data), strict_map_key=False)]
    try:
        return b"".join(bytes(msgpack.packb(value, unicode_errors="surrogatepass")) for value in values)
    except (OverflowError, ValueError, TypeError):
        return turn_bytes(data, rng)


def targets(work: Path) -> dict[str, Target]:
    """Make every target, with good inputs of a small data set."""
    from uavsim.annotate import annotate
    from uavsim.capture.recording_reader import read_recording
    from uavsim.dataset import pack_fragment, scene_fragment
    from uavsim.dataset.fragment import open_fragment
    from uavsim.images import codec
    from uavsim.plan.roadmap import read_roads
    from uavsim.records.codec import pack_plan, unpack_plan
    from uavsim.store.identity import read_identity
    from uavsim.store.ledger import LedgerEntry, SceneFacts, read_entry, write_entry
    from uavsim.store.local import LocalOutput
    from uavsim.store.manifest import Generation, read_manifest

    root = make_dataset(work / "set", scenes=1, samples=2, sweeps=0, drones=1, size_px=(64, 36))
    recording = make_recording(work / "recording", samples=2, sweeps=0, drones=1, size_px=(32, 18))
    log = write_log(recording) / "log.msgpack"
    fragment = pack_fragment(scene_fragment(annotate(recording)))
    output = LocalOutput(work / "out")
    write_entry(output, LedgerEntry("scene_00", "committed", reasons=("x",), facts=SceneFacts(), retired=(1,)))
    entry = (work / "out/.uavsim/ledger/scene_00.json").read_bytes()

    def put(key: str, read: Callable[[], object]) -> Callable[[bytes], object]:
        def fed(data: bytes) -> object:
            path = work / "out" / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            return read()

        return fed

    def rows_of_fragment(data: bytes) -> None:
        opened = open_fragment(data)
        for table in opened.compressed:
            opened.lines(table)

    def log_of(data: bytes) -> None:
        log.write_bytes(data)
        read_recording(log.parent)

    image = next(iter((root / "samples").rglob("*.png"))).read_bytes()
    manifest = json.dumps({"files": {"samples/C/scene_00__C__1.png": [10, 10**18]}}).encode()
    road = b'<OpenDRIVE><road id="1" length="10"><planView><geometry s="0" x="0" y="0" hdg="0" length="10"><line/></geometry>'
    road += b'</planView><lanes><laneSection s="0"><right><lane id="-1" type="driving">'
    road += b'<width sOffset="0" a="3" b="0" c="0" d="0"/>'
    road += b"</lane></right></laneSection></lanes></road></OpenDRIVE>"

    def roads(data: bytes) -> None:
        (work / "town.xodr").write_bytes(data)
        read_roads(work / "town.xodr")

    made = {
        "fragments": Target([fragment], rows_of_fragment, turn_msgpack),
        "plans": Target([pack_plan(recording.plan)], unpack_plan, turn_msgpack),
        "recordings": Target([log.read_bytes()], log_of, turn_msgpack),
        "ledgers": Target(
            [entry], put(".uavsim/ledger/scene_00.json", lambda: read_entry(output, "scene_00")), turn_json
        ),
        "identities": Target(
            [b'{"dataset": "a", "seed": 0, "fingerprint": "x"}'],
            put(".uavsim/dataset.json", lambda: read_identity(output)),
            turn_json,
        ),
        "manifests": Target(
            [manifest],
            put(".uavsim/manifests/scene_00~0.json", lambda: read_manifest(output, Generation("scene_00", 0))),
            turn_json,
        ),
        "images": Target([image, codec.encode_jpeg(np.zeros((9, 9, 3), np.uint8))], codec.decode_rgb, turn_bytes),
        "OpenDRIVE": Target([road], roads, turn_bytes),
    }
    return made | _table_targets(root, work)


def _table_targets(root: Path, work: Path) -> dict[str, Target]:
    from uavsim.evaluate.outcome import EvaluationRequest
    from uavsim.evaluate.result_input import DetectionInput
    from uavsim.export import EXPORTERS, ExportRequest
    from uavsim.validate import validate_version

    tables = sorted((root / "v1.0-mini").glob("*.json"))
    good = {path: path.read_bytes() for path in tables}

    def one_changed(read: Callable[[], object]) -> tuple[list[bytes], Callable[[bytes], object]]:
        def fed(data: bytes) -> object:
            name, _, content = data.partition(b"\n")
            path = root / "v1.0-mini" / Path(name.decode()).name
            try:
                path.write_bytes(content)
                return read()
            finally:
                path.write_bytes(good[path])

        return [path.name.encode() + b"\n" + data for path, data in good.items()], fed

    def change(data: bytes, rng: random.Random) -> bytes:
        name, _, content = data.partition(b"\n")
        return name + b"\n" + turn_json(content, rng)

    def export() -> None:
        for kind in ("kitti", "coco", "opv2v", "mmdet3d"):
            EXPORTERS.pick(kind)(ExportRequest(root, work / "exported" / kind))

    box: dict[str, object] = {
        "sample_token": "a",
        "translation": [0, 0, 0],
        "size": [1, 1, 1],
        "rotation": [1, 0, 0, 0],
        "velocity": [0, 0],
    }
    box |= {"detection_name": "car", "detection_score": 0.5, "attribute_name": ""}
    predictions = json.dumps({"meta": {}, "results": {"a": [box]}}).encode()

    def predicted(data: bytes) -> None:
        (work / "predictions.json").write_bytes(data)
        request = EvaluationRequest(root, work / "predictions.json", version="v1.0-mini")
        for _ in DetectionInput(request).blocks():
            pass

    return {
        "validator": Target(*one_changed(lambda: validate_version(root, "v1.0-mini", workers=1)), change),
        "exporters": Target(*one_changed(export), change),
        "predictions": Target([predictions], predicted, turn_json),
    }


def fuzz(name: str, target: Target, *, seconds: float, rng: random.Random) -> tuple[int, list[str]]:
    """Feed one target for a while; returns how many inputs, and each kind of finding once."""
    end, tried, found = time.monotonic() + seconds, 0, dict[str, str]()
    while time.monotonic() < end:
        data = target.change(rng.choice(target.good), rng)
        began, tried = time.monotonic(), tried + 1
        try:
            target.read(data)
        except UavsimError as error:
            if "\n" in str(error):
                found.setdefault(f"two lines: {type(error).__name__}", str(error)[:200])
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            last = traceback.extract_tb(error.__traceback__)
            ours = next((f for f in reversed(last) if "/uavsim/" in f.filename), last[-1])
            found.setdefault(f"{type(error).__name__} at {Path(ours.filename).name}:{ours.lineno}", str(error)[:150])
        took = time.monotonic() - began
        if took > SLOW_S:
            found.setdefault("slow", f"{took:.0f} s, {len(data)} bytes")
    return tried, [f"{name}: {key}: {said}" for key, said in found.items()]


def main() -> int:
    """Run the targets; 0 when nothing was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="of each target")
    parser.add_argument("--only", default="", help="targets whose name holds this")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    warnings.simplefilter("ignore")
    findings: list[str] = []
    with tempfile.TemporaryDirectory(prefix="uavsim-fuzz-") as work:
        for name, target in targets(Path(work)).items():
            if options.only in name:
                tried, found = fuzz(
                    name, target, seconds=60 * options.minutes, rng=random.Random(f"{name} {options.seed}")
                )
                findings += found
                print(f"{name}: {tried} inputs in {60 * options.minutes:.0f} s, {len(found)} findings", flush=True)
                for line in found:
                    print(f"  {line}", flush=True)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
