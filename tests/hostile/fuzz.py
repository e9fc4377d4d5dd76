# ruff: noqa: T201 - printing is its job
"""Feed everything that reads with what nobody would write: any exception that is not ours is a finding.

Each target takes a good input, changed at random: bits turned, pieces cut, doubled and exchanged, numbers and texts of its
structure replaced by others that were a trouble before. Time and memory of every input are bounded.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.dataset_factory import make_dataset, write_log
from tests.factories import make_recording
from tests.hostile.fuzz_simulator import simulator_targets
from tests.hostile.fuzzing import Target, turn_bytes, turn_json, turn_msgpack
from uavsim.errors import UavsimError

SLOW_S = 20.0
MEMORY_BYTES = 6 << 30


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
    return made | _table_targets(root, work) | _text_targets(root, work) | simulator_targets(work)


def _text_targets(root: Path, work: Path) -> dict[str, Target]:
    from uavsim.config.dataset import DatasetConfig
    from uavsim.config.kept import KEPT
    from uavsim.config.library import KINDS, Library, packaged_root
    from uavsim.config.load import load
    from uavsim.images import codec

    plans = packaged_root() / "flight_plans"
    kinds = {"datasets": "dataset", "formations": "formation", "rigs": "rig", "weather": "weather", ".": "routes"}
    texts = [
        kind.encode() + b"\n" + path.read_bytes()
        for folder, kind in kinds.items()
        for path in sorted((plans / folder).glob("*.yaml"))
    ]

    def configured(data: bytes) -> None:
        kind, _, text = data.partition(b"\n")
        (work / "fuzzed.yaml").write_bytes(text)
        load(work / "fuzzed.yaml", KINDS.get(kind.decode(errors="replace"), DatasetConfig))

    def kept(data: bytes) -> None:
        (work / KEPT).write_bytes(data)
        Library.of().dataset(str(work / KEPT))

    smoke = (plans / "datasets/smoke.yaml").read_text()
    bundle = {"format": "uavsim-configuration-1", "dataset": "smoke", "files": {"dataset:smoke": ["smoke.yaml", smoke]}}
    mask = next(iter((root / "masks").rglob("*.png"))).read_bytes()
    return {
        "configurations": Target(texts, configured, turn_bytes),
        "kept-texts": Target([json.dumps(bundle).encode()], kept, turn_json),
        "masks": Target([mask], codec.decode_rgb, turn_bytes),
    }


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
        began, tried = time.process_time(), tried + 1  # a busy machine is no finding
        try:
            target.read(data)
        except UavsimError as error:
            if "\n" in str(error):
                found.setdefault(f"two lines: {type(error).__name__}", str(error)[:200])
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            last = traceback.extract_tb(error.__traceback__)
            ours = next((f for f in reversed(last) if "/uavsim/" in f.filename), last[-1])
            found.setdefault(f"{type(error).__name__} at {Path(ours.filename).name}:{ours.lineno}", str(error)[:150])
        took = time.process_time() - began
        if took > SLOW_S:
            found.setdefault("slow", f"{took:.0f} s, {len(data)} bytes")
    target.end()
    return tried, [f"{name}: {key}: {said}" for key, said in found.items()]


def main() -> int:
    """Run the targets; 0 when nothing was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="of each target")
    parser.add_argument("--only", default="", help="the target of this name")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    warnings.simplefilter("ignore")
    findings: list[str] = []
    with tempfile.TemporaryDirectory(prefix="uavsim-fuzz-") as work:
        for name, target in targets(Path(work)).items():
            if options.only in {"", name}:
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
