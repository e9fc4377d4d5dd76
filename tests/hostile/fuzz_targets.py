"""What uavsim reads, as targets of the fuzzer: each with good inputs of a small dataset."""

import io
import json
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from tests.dataset_factory import make_dataset, write_log
from tests.hostile.fuzz_readers import adopt_target, reader_targets, result_targets
from tests.hostile.fuzz_simulator import simulator_targets
from tests.hostile.fuzzing import Target, one_table, spoil, through, turn_bytes, turn_json, turn_msgpack, turn_xml
from tests.records.test_motion import motion
from tools.common.factories import make_recording

__all__ = ["targets"]

EVERY_ROAD = Path(__file__).parents[2] / "tests/maps/every_kind.xodr"
"""Roads of every kind of geometry, with a junction, objects and signals."""


def targets(work: Path) -> dict[str, Target]:
    """Make every target, with good inputs of a small dataset."""
    from uavsim.annotate import annotate
    from uavsim.capture.recording_reader import read_recording
    from uavsim.dataset import pack_fragment, scene_fragment
    from uavsim.dataset.fragment import open_fragment
    from uavsim.files.parquet import from_parquet
    from uavsim.images import codec
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
        return through(work / "out" / key, read)

    def rows_of_fragment(data: bytes) -> None:
        opened = open_fragment(data)
        for table in opened.compressed:
            opened.lines(table)

    def log_of() -> None:
        kept = read_recording(log.parent).motion
        if kept is not None:
            kept.open()

    town = work / "town.xodr"
    image = next(iter((root / "samples").rglob("*.png"))).read_bytes()
    manifest = json.dumps({"files": {"samples/C/scene_00__C__1.png": [10, 10**18]}}).encode()

    made = {
        "fragments": Target([fragment], rows_of_fragment, turn_msgpack),
        "plans": Target([pack_plan(recording.plan)], unpack_plan, turn_msgpack),
        "recordings": Target([log.read_bytes()], through(log, log_of), turn_msgpack),
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
        "streams": Target([_readings()], lambda data: from_parquet(data, name="x.parquet"), turn_bytes),
        "voxels": _voxels(work),
        "xml": Target([EVERY_ROAD.read_bytes()], through(town, partial(_town_maps, town)), turn_xml),
        "adopt": adopt_target(root, work),
    }
    made |= _table_targets(root, work) | result_targets(root, work) | reader_targets(root, log, work)
    return made | _text_targets(root, work) | _log_targets(work) | simulator_targets(work)


def _readings() -> bytes:
    from uavsim.files.parquet import to_parquet

    rows = np.zeros(20, [("timestamp_us", "<i8"), ("force_mps2", "<f8", 3)])
    return to_parquet(rows, {"model": {"hz": 3}})


def _voxels(work: Path) -> Target:
    """Make the target of voxels: a letter for the reader, and a file as truth, as results, or as the kept scan of a town."""
    from uavsim.occupancy.files import voxels_file
    from uavsim.occupancy.npz import npz_bytes
    from uavsim.occupancy.town import join_scans
    from uavsim_benchmarks.evaluate.occupancy import evaluate_occupancy
    from uavsim_benchmarks.evaluate.outcome import EvaluationRequest

    classes = np.arange(64, dtype=np.uint8).reshape(4, 4, 4) % 18
    grid = {"size": [4, 4, 4], "voxel_m": 1.0, "low_m": [-2, -2, -1]}
    grid |= {"map_quat_wxyz_grid": [1, 0, 0, 0], "map_from_grid_m": [0, 0, 0]}
    about = {"grid": grid, "types": {"semantics": "|u1", "seen": "|u1"}, "seers": ["0", "1"], "eyes_m": [[0, 0, 9]]}
    air = np.ones((3, 4, 2), np.uint8)
    scan = {"keys": np.array([5, 99]), "hits": np.ones(2, np.uint32), "passed": air, "first": np.array([-1, 0, 2])}
    good = {
        "p": voxels_file({"semantics": classes, "seen": classes % 4}, about),
        "o": npz_bytes({"semantics": classes, "mask_camera": classes % 2}),
        "s": npz_bytes(scan),
    }
    places = {
        "p": work / "truth/scene/grid/t.parquet",
        "o": work / "truth/gts/scene/t/labels.npz",
        "s": work / "scan.npz",
    }

    def fed(data: bytes) -> None:
        kind, content = chr(data[0]), data[1:]
        shutil.rmtree(work / "truth", ignore_errors=True)
        if kind == "s":
            places["s"].write_bytes(content)
            join_scans([places["s"], places["s"]])
            return
        for truth, results in ((content, content), (good[kind], content)):
            for folder, written in ((work / "truth", truth), (work / "results", results)):
                path = folder / places[kind].relative_to(work / "truth")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(written)
            evaluate_occupancy(EvaluationRequest(work / "truth", work / "results"))

    def change(data: bytes, rng: random.Random) -> bytes:
        if rng.random() < 0.5:
            return data[:1] + turn_bytes(data[1:], rng)
        if data[:1] == b"p":
            return b"p" + voxels_file({"semantics": classes, "seen": classes % 4}, spoil(about, rng, share=0.05))
        with np.load(io.BytesIO(data[1:])) as file:
            arrays = dict(file)
        name = rng.choice(list(arrays))
        kind = rng.choice(["u1", "i1", "i8", "u4", "f4", "?", "c8", "S3", "M8[s]"])
        changed = np.resize(arrays[name], rng.choice([0, 1, 3, 64, 100_000])).astype(kind) + rng.choice([0, 0, 1])
        return data[:1] + npz_bytes(
            arrays | {name: changed.reshape(rng.choice([(-1,), (1, 1, -1), arrays[name].shape]))}
        )

    return Target([kind.encode() + data for kind, data in good.items()], fed, lambda d, r: _whole(change, d, r))


def _whole(change: Callable[[bytes, random.Random], bytes], data: bytes, rng: random.Random) -> bytes:
    """Change an input; bytes where numpy cannot make the array."""
    try:
        return change(data, rng)
    except (TypeError, ValueError, UnicodeError):
        return data[:1] + turn_bytes(data[1:], rng)


def _town_maps(path: Path) -> None:
    from uavsim.maps.build import build
    from uavsim.maps.expansion import read_expansion
    from uavsim.maps.files import FORMATS
    from uavsim.maps.opendrive.read import read_opendrive
    from uavsim.maps.raster import road_outlines

    network = read_opendrive(path)
    road_outlines(network)
    town = build(network, "T")
    for form in ("nuscenes", "graph", "lanelet2"):
        for name, data in FORMATS[form](town, "T").items():
            written = data if isinstance(data, bytes) else b"".join(data)
            if name.endswith("T.json"):
                read_expansion(written, name="T")


def _text_targets(root: Path, work: Path) -> dict[str, Target]:
    from uavsim.config.dataset import dataset_config
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
        load(work / "fuzzed.yaml", kinds().get(kind.decode(errors="replace"), dataset_config()))

    smoke = (plans / "datasets/smoke.yaml").read_text()
    bundle = {"format": "uavsim-configuration-1", "dataset": "smoke", "files": {"dataset:smoke": ["smoke.yaml", smoke]}}
    mask = next(iter((root / "masks").rglob("*.png"))).read_bytes()
    return {
        "configurations": Target(texts, configured, turn_bytes),
        "kept-texts": Target(
            [json.dumps(bundle).encode()],
            through(work / KEPT, lambda: Library.of().dataset(str(work / KEPT))),
            turn_json,
        ),
        "masks": Target([mask], codec.decode_rgb, turn_bytes),
    }


def _table_targets(root: Path, work: Path) -> dict[str, Target]:
    from uavsim.exports.formats import EXPORTERS, ExportRequest
    from uavsim.validate import validate_version

    def export() -> None:
        for kind in ("coco", "opv2v", "mmdet3d"):
            EXPORTERS.pick(kind)(ExportRequest(root, work / "exported" / kind))

    return {
        "validator": one_table(root, lambda: validate_version(root, "v1.0-mini", workers=1)),
        "exporters": one_table(root, export),
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
