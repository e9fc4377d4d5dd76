"""What uavsim reads, as targets of the fuzzer: each with good inputs of a small dataset."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.dataset_factory import make_dataset, write_log
from tests.hostile.fuzz_simulator import simulator_targets
from tests.hostile.fuzzing import Target, turn_bytes, turn_json, turn_msgpack
from tests.records.test_motion import motion
from tools.common.factories import make_recording

__all__ = ["targets"]


def targets(work: Path) -> dict[str, Target]:
    """Make every target, with good inputs of a small dataset."""
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
    recording = replace(recording, motion=motion(4, 3).packed())
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
        kept = read_recording(log.parent).motion
        if kept is not None:
            kept.open()

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
    made |= _table_targets(root, work) | _result_targets(root, work)
    return made | _text_targets(root, work) | _log_targets(work) | simulator_targets(work)


def _text_targets(root: Path, work: Path) -> dict[str, Target]:
    from uavsim.config.dataset import DatasetConfig
    from uavsim.config.kept import KEPT
    from uavsim.config.library import Library, kinds, packaged_root
    from uavsim.config.load import load
    from uavsim.images import codec

    plans = packaged_root() / "flight_plans"
    folders = {"datasets": "dataset", "formations": "formation", "rigs": "rig", "weather": "weather", ".": "routes"}
    texts = [
        kind.encode() + b"\n" + path.read_bytes()
        for folder, kind in folders.items()
        for path in sorted((plans / folder).glob("*.yaml"))
    ]

    def configured(data: bytes) -> None:
        kind, _, text = data.partition(b"\n")
        (work / "fuzzed.yaml").write_bytes(text)
        load(work / "fuzzed.yaml", kinds().get(kind.decode(errors="replace"), DatasetConfig))

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
    from uavsim.export import EXPORTERS, ExportRequest
    from uavsim.validate import validate_version
    from uavsim_benchmarks.evaluate.nuscenes.result_input import DetectionInput
    from uavsim_benchmarks.evaluate.outcome import EvaluationRequest

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


def _result_targets(root: Path, work: Path) -> dict[str, Target]:
    """What results are read from beside nuScenes' JSON: pickles, and AOT's, OpenAD's and AirCopBench's files."""
    from uavsim_benchmarks.evaluate.metrics import evaluate
    from uavsim_benchmarks.evaluate.outcome import EvaluationRequest
    from uavsim_benchmarks.evaluate.readers.pickles import read_pickle

    def scored(benchmark: str, truth: Path, suffix: str, **options: str) -> Callable[[bytes], object]:
        def fed(data: bytes) -> object:
            path = work / f"{benchmark}{suffix}"
            path.write_bytes(data)
            return evaluate(benchmark, EvaluationRequest(truth, path, options=options))

        return fed

    def pickled(data: bytes) -> object:
        (work / "x.pkl").write_bytes(data)
        return read_pickle(work / "x.pkl")

    array = np.arange(6.0).reshape(2, 3)
    values: list[object] = [array, np.float32(2), {"a": [1, "x", None, (array, 2.5)]}, np.array([None, "x"], object)]
    pickles = [pickle.dumps(value, protocol) for value in values for protocol in range(6)]
    box = [1.0, 1.0, 9.0, 9.0, 1.5, 2.0, 4.0, 1.0, 2.0, 3.0, 0.5, 1, 0, 1, 0, 0, "car"]
    (work / "gt.pkl").write_bytes(pickle.dumps([[[list(box)], []], ["car"], np.ones((1, 4))]))
    found = [[[[1.5, 2.0, 4.0, 1.1, 2.0, 3.0, 0.5, "car"]], []], ["car"], np.ones((1, 4)), {"av2": True}]
    seen = {"time": 1, "frame": 1, "blob": {"range_distance_m": 300.0, "frame": 1}, "id": "Airplane1",
            "bb": [9.0, 9.0, 8.0, 8.0], "labels": {"is_above_horizon": 1}, "flight_id": "f", "img_name": "a.png"}  # fmt: skip
    (work / "truth.json").write_text(json.dumps({"samples": {"f": {"metadata": {}, "entities": [seen]}}}))
    aot = [{"img_name": "a.png", "detections": [{"x": 9.0, "y": 9.0, "w": 8.0, "h": 8.0, "s": 0.9, "track_id": 1}]}]
    said = [
        {
            "correct_answer": "A",
            "predicted_answer": "B",
            "question_type": "2.2 Object Counting (UAV1)",
            "dataset": "Sim3",
        }
    ]
    sample = json.loads((root / "v1.0-mini/sample.json").read_bytes())[0]["token"]
    own = {"sample_token": sample, "translation": [0.0, 0, 0], "size": [1.0, 1, 1], "rotation": [1.0, 0, 0, 0],
           "velocity": [0.0, 0], "detection_name": "car", "detection_score": 0.5, "attribute_name": ""}  # fmt: skip
    return {
        "pickles": Target(pickles, pickled, turn_bytes),
        "pickled-predictions": Target(
            [pickle.dumps({"meta": {}, "results": {sample: [own]}}, protocol) for protocol in (2, 4)],
            scored("nuscenes-detection", root, ".pkl"),
            turn_bytes,
        ),
        "openad-results": Target([pickle.dumps(found)], scored("openad", work / "gt.pkl", ".pkl"), turn_bytes),
        "aot-results": Target([json.dumps(aot).encode()], scored("aot", work / "truth.json", ".json"), turn_json),
        "aircopbench-results": Target([json.dumps(said).encode()], scored("aircopbench", root, ".json"), turn_json),
    }


def _log_targets(work: Path) -> dict[str, Target]:
    """What processes print: into the logs of a dataset, of which the ends are read, and as events."""
    from uavsim.capture.client_events import UnknownEvent, fields_of, parse_event
    from uavsim.escape import visible
    from uavsim.files.logs import open_appending, tail_of
    from uavsim.store.journal import Journal
    from uavsim.supervise.simulator import announced_ports

    log, journal = work / "logs/mock0.log", work / "logs/scene_00.jsonl"

    def printed(data: bytes) -> None:
        log.unlink(missing_ok=True)
        with open_appending(log) as file:
            file.write(data)
        announced_ports(tail_of(log, lines=1000))
        Journal(journal).add("failed", reason=visible(tail_of(log, lines=1)), log=tail_of(log, lines=20))
        journal.unlink()

    def happened(data: bytes) -> None:
        for one in data.split(b"\n"):
            event = parse_event(one)
            if event is not None:
                fields = event.fields if isinstance(event, UnknownEvent) else fields_of(event)
                Journal(journal).add(event.event, fields=fields)
        journal.unlink(missing_ok=True)

    events = (
        {"event": "ready", "protocol": 3, "client": "0.9.16", "server": "0.9.16", "map_name": "Town10HD"},
        {"event": "heartbeat", "phase": "fly", "tick": 7},
        {"event": "sample", "scene": "scene_00", "sample": 1, "samples": 5, "images": 25},
        {"event": "done", "scene": "scene_00", "recording": "x", "vehicles": 9, "vehicles_asked": 10, "images": 250},
        {"event": "error", "kind": "SimulatorError", "message": "no answer", "retry": True},
        {"event": "of a later version", "key": {"deep": [1, 2, {"deeper": ["x"]}]}},
    )
    lines = [
        b'{"carla": 2000, "airsim": 41451}\nWARNING: no LOD\nTraceback (most recent call last):\nOSError: no\n',
        b"s3://KEY:SECRET@bucket/x password=secret AKIAABCDEFGHIJKLMNOP\n" * 20,
    ]
    return {
        "logs": Target(lines, printed, turn_bytes),
        "events": Target([json.dumps(event).encode() for event in events], happened, turn_json),
    }
