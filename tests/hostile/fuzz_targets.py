"""Fuzz targets: files that the pipeline reads, each with good inputs from a small dataset."""

import contextlib
import io
import json
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from tests.dataset_factory import write_log
from tests.hostile.datasets import EVERY_ROAD, make_tiny
from tests.hostile.fuzz_readers import adopt_target, certificate_target, dataset_targets, result_targets
from tests.hostile.fuzz_simulator import simulator_targets
from tests.hostile.fuzzing import Target, spoil, through, turn_bytes, turn_json, turn_msgpack, turn_xml
from tests.records.test_motion import motion
from tools.common.factories import make_recording
from uavsim.annotate import annotate
from uavsim.capture.client_events import UnknownEvent, fields_of, parse_event
from uavsim.capture.recording_reader import read_recording
from uavsim.config.dataset import dataset_config
from uavsim.config.library import Library, kinds, packaged_root
from uavsim.config.load import load
from uavsim.config.stored import CONFIG_FILE
from uavsim.dataset import pack_fragment, scene_fragment
from uavsim.dataset.fragment import open_fragment
from uavsim.escape import visible
from uavsim.files.logs import open_appending, tail_of
from uavsim.files.parquet import from_parquet, to_parquet
from uavsim.files.parse import reading
from uavsim.images import codec
from uavsim.maps.build import build
from uavsim.maps.expansion import read_expansion
from uavsim.maps.files import FORMATS
from uavsim.maps.opendrive.read import read_opendrive
from uavsim.maps.raster import road_outlines
from uavsim.occupancy.files import voxels_file
from uavsim.occupancy.npz import npz_bytes
from uavsim.occupancy.town import join_scans
from uavsim.records.codec import pack_plan, unpack_plan
from uavsim.replays.twins import named_occlusions
from uavsim.store.identity import read_identity
from uavsim.store.journal import Journal
from uavsim.store.ledger import LedgerEntry, SceneFacts, read_entry, write_entry
from uavsim.store.local import LocalOutput
from uavsim.store.manifest import Generation, read_manifest
from uavsim.supervise.simulator import announced_ports
from uavsim_benchmarks.evaluate.occupancy import evaluate_occupancy
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest


def targets(work: Path) -> dict[str, Target]:
    """Make every target, with good inputs of a small dataset."""
    root = make_tiny(work / "set")
    town = work / "town.xodr"
    image, mask = (next((root / folder).rglob("*.png")).read_bytes() for folder in ("samples", "masks"))
    rows = np.zeros(20, [("timestamp_us", "<i8"), ("force_mps2", "<f8", 3)])
    return {
        "images": Target([image, codec.encode_jpeg(np.zeros((9, 9, 3), np.uint8))], codec.decode_rgb, turn_bytes),
        "masks": Target([mask], codec.decode_rgb, turn_bytes),
        "streams": Target(
            [to_parquet(rows, {"model": {"hz": 3}})], partial(from_parquet, name="x.parquet"), turn_bytes
        ),
        "voxels": _voxels(work),
        "xml": Target([EVERY_ROAD.read_bytes()], through(town, partial(_town_maps, town)), turn_xml),
        "adopt": adopt_target(root, work),
        "cards": certificate_target(work),
        **_recording_targets(work),
        **_store_targets(work / "out"),
        **dataset_targets(root, work),
        **result_targets(root, work),
        **_configuration_targets(work),
        **_log_targets(work),
        **simulator_targets(work),
    }


def _recording_targets(work: Path) -> dict[str, Target]:
    recording = make_recording(work / "recording", samples=2, sweeps=0, drones=1, size_px=(32, 18))
    recording = replace(recording, motion=motion(4, 3).packed())
    folder = write_log(recording)
    labelled = Path(shutil.copytree(folder, work / "recording-labelled"))
    log = (folder / "log.msgpack").read_bytes()

    def read_rows(data: bytes) -> None:
        fragment = open_fragment(data)
        for table in fragment.compressed:
            fragment.lines(table)

    def read_log() -> None:
        if (packed := read_recording(folder).motion) is not None:
            packed.open()

    def label() -> None:
        read = read_recording(labelled)
        with reading(labelled):
            annotate(read)
        named_occlusions(read)

    return {
        "fragments": Target([pack_fragment(scene_fragment(annotate(recording)))], read_rows, turn_msgpack),
        "plans": Target([pack_plan(recording.plan)], unpack_plan, turn_msgpack),
        "recordings": Target([log], through(folder / "log.msgpack", read_log), turn_msgpack),
        "labelled-recordings": Target([log], through(labelled / "log.msgpack", label), turn_msgpack),
    }


def _store_targets(out: Path) -> dict[str, Target]:
    output, notes = LocalOutput(out), out / ".uavsim"
    write_entry(output, LedgerEntry("scene_00", "committed", reasons=("x",), facts=SceneFacts(), retired=(1,)))
    entry = (notes / "ledger/scene_00.json").read_bytes()
    identity = b'{"dataset": "a", "seed": 0, "fingerprint": "x"}'
    manifest = json.dumps({"files": {"samples/C/scene_00__C__1.png": [10, 10**18]}}).encode()

    def note(name: str, good: bytes, read: Callable[[], object]) -> Target:
        return Target([good], through(notes / name, read), turn_json)

    return {
        "ledgers": note("ledger/scene_00.json", entry, lambda: read_entry(output, "scene_00")),
        "identities": note("dataset.json", identity, lambda: read_identity(output)),
        "manifests": note(
            "manifests/scene_00~0.json", manifest, lambda: read_manifest(output, Generation("scene_00", 0))
        ),
    }


def _voxels(work: Path) -> Target:
    """Make the target of voxels: a letter for the reader, and a file as truth, as results, or as the scan of a town."""
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
    names = {"p": "scene/grid/t.parquet", "o": "gts/scene/t/labels.npz"}

    def read(data: bytes) -> None:
        kind, content = chr(data[0]), data[1:]
        if kind == "s":
            (work / "scan.npz").write_bytes(content)
            join_scans([work / "scan.npz"] * 2)
            return
        folders = (work / kind / "truth", work / kind / "results")
        for written in ((content, content), (good[kind], content)):
            for folder, voxels in zip(folders, written, strict=True):
                through(folder / names[kind], lambda: None)(voxels)
            evaluate_occupancy(EvaluationRequest(*folders))

    def changed_arrays(data: bytes, rng: random.Random) -> bytes:
        if data[:1] == b"p":
            return voxels_file({"semantics": classes, "seen": classes % 4}, spoil(about, rng, share=0.05))
        with np.load(io.BytesIO(data[1:])) as file:
            arrays = dict(file)
        name, kind = rng.choice(list(arrays)), rng.choice(["u1", "i1", "i8", "u4", "f4", "?", "c8", "S3", "M8[s]"])
        changed = np.resize(arrays[name], rng.choice([0, 1, 3, 64, 100_000])).astype(kind) + rng.choice([0, 0, 1])
        return npz_bytes(arrays | {name: changed.reshape(rng.choice([(-1,), (1, 1, -1), arrays[name].shape]))})

    def change(data: bytes, rng: random.Random) -> bytes:
        if rng.random() < 0.5:
            with contextlib.suppress(TypeError, ValueError):  # NumPy cannot make the array
                return data[:1] + changed_arrays(data, rng)
        return data[:1] + turn_bytes(data[1:], rng)

    return Target([kind.encode() + data for kind, data in good.items()], read, change)


def _town_maps(path: Path) -> None:
    network = read_opendrive(path)
    road_outlines(network)
    town = build(network, "T")
    for form in ("nuscenes", "graph", "lanelet2"):
        for name, data in FORMATS[form](town, "T").items():
            written = data if isinstance(data, bytes) else b"".join(data)
            if name.endswith("T.json"):
                read_expansion(written, name="T")


def _configuration_targets(work: Path) -> dict[str, Target]:
    plans = packaged_root() / "flight_plans"
    folders = {"datasets": "dataset", "formations": "formation", "rigs": "rig", "weather": "weather", ".": "routes"}
    texts = [
        kind.encode() + b"\n" + path.read_bytes()
        for folder, kind in folders.items()
        for path in sorted((plans / folder).glob("*.yaml"))
    ]

    def read(data: bytes) -> None:
        kind, _, text = data.partition(b"\n")
        (work / "fuzzed.yaml").write_bytes(text)
        load(work / "fuzzed.yaml", kinds().get(kind.decode(errors="replace"), dataset_config()))

    smoke = (plans / "datasets/smoke.yaml").read_text()
    bundle = {"format": "uavsim-configuration-1", "dataset": "smoke", "files": {"dataset:smoke": ["smoke.yaml", smoke]}}
    read_bundle = through(work / CONFIG_FILE, lambda: Library.of().dataset(str(work / CONFIG_FILE)))
    return {
        "configurations": Target(texts, read, turn_bytes),
        "kept-texts": Target([json.dumps(bundle).encode()], read_bundle, turn_json),
    }


def _log_targets(work: Path) -> dict[str, Target]:
    """Make the targets of output of other processes: text appended to a dataset's logs, and client events."""
    log, journal = work / "logs/mock0.log", work / "logs/scene_00.jsonl"

    def append(data: bytes) -> None:
        log.unlink(missing_ok=True)
        with open_appending(log) as file:
            file.write(data)
        announced_ports(tail_of(log, lines=1000))
        Journal(journal).add("failed", reason=visible(tail_of(log, lines=1)), log=tail_of(log, lines=20))
        journal.unlink()

    def parse(data: bytes) -> None:
        for text in data.split(b"\n"):
            if (event := parse_event(text)) is not None:
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
        "logs": Target(lines, append, turn_bytes),
        "events": Target([json.dumps(event).encode() for event in events], parse, turn_json),
    }
