"""Fuzz targets: datasets, dataset cards, adopted videos and benchmark results."""

import json
import pickle
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.hostile.fuzzing import Mutation, Target, one_table, through, turn_bytes, turn_json
from uavsim.access import open_folder
from uavsim.errors import InputError
from uavsim.exports.adopt import adopt
from uavsim.exports.formats import EXPORTERS, ExportRequest
from uavsim.exports.formats.encode_video import encode_mp4
from uavsim.exports.publish.certificate import FORMAT
from uavsim.exports.reproduce import reproduce
from uavsim.run.request import Request
from uavsim.run.resolve import identity_of
from uavsim.validate import validate_version
from uavsim_benchmarks.evaluate.metrics import evaluate
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest
from uavsim_benchmarks.evaluate.readers.confidence_maps import read_confidence_maps
from uavsim_benchmarks.evaluate.readers.pickles import read_pickle


def dataset_targets(root: Path, work: Path) -> dict[str, Target]:
    """Make the targets that read a dataset with one damaged table: validator, exporters and ``uavsim.open``."""

    def export() -> None:
        for kind in ("coco", "opv2v", "mmdet3d"):
            EXPORTERS.pick(kind)(ExportRequest(root, work / "exported" / kind))

    return {
        "validator": one_table(root, lambda: validate_version(root, "v1.0-mini", workers=1)),
        "exporters": one_table(root, export),
        "opened": one_table(root, lambda: _read_every_property(root)),
    }


def _read_every_property(root: Path) -> None:
    def read(part: object) -> None:
        for name in dir(type(part)):
            if not name.startswith("_"):
                getattr(part, name)

    dataset = open_folder(root)
    read(dataset)
    for scene in dataset.scenes():
        read(scene)
        scene.map_SE3_drones()
        for sample in scene.samples:
            read(sample)
            sample.drone_ids()
            for image in sample.images:
                read(image)


def certificate_of_smoke() -> dict[str, Any]:
    """Make a certificate of two scenes of the smoke dataset."""
    identity = identity_of(Request(dataset="smoke", out="-", samples=2))
    hashes = {f"{kind}_sha256": "a0" * 32 for kind in ("plan", "files", "rows")}
    scenes = {f"scene_{n:04d}": {"number": n, "town": "Town10HD", "files": 3, **hashes} for n in range(2)}
    keys = ("dataset", "seed", "fingerprint", "request", "versions")
    return {"format": FORMAT, **{key: identity[key] for key in keys}, "scenes": scenes}


def certificate_target(work: Path) -> Target:
    """Make the target of ``reproduce``: each input is the certificate in a dataset card."""
    card = work / "card.md"

    def generate(request: object) -> Any:
        raise InputError("generation is disabled here")

    def read(certificate: bytes) -> None:
        card.write_bytes(b"# A card\n\n```json\n" + certificate + b"\n```")
        reproduce(card, work / "new", scenes="0", simulators=(), run=None, generate=generate)

    return Target([json.dumps(certificate_of_smoke()).encode()], read, turn_json)


def adopt_target(root: Path, work: Path) -> Target:
    """Make the target of ``adopt``: each input is a manifest, a NUL byte and the video that it names."""
    image = next(image for image in open_folder(root).scene("scene_00").samples[0].images)
    clip = {"clip_id": "scene_00__drone_0", "videos": {f"rgb/{image.channel}": "x.mp4"}}
    job = {
        "clip": {"clip_id": clip["clip_id"], "rig": {"cameras": [{"name": image.channel}]}},
        "files": [{"name": "x.mp4"}],
    }
    video = encode_mp4(iter([image.pixels()] * 3), fps=2, group=1)
    folder = work / "videos"
    (folder / "clip").mkdir(parents=True)

    def read(data: bytes) -> None:
        manifest, _, content = data.partition(b"\0")
        (folder / "clip/manifest.json").write_bytes(manifest)
        (folder / "clip/x.mp4").write_bytes(content)
        try:
            adopt(folder, root, work / "twins", name="t")
        finally:
            shutil.rmtree(work / "twins", ignore_errors=True)

    def change(data: bytes, rng: random.Random) -> bytes:
        manifest, _, content = data.partition(b"\0")
        if rng.random() < 0.5:
            return turn_json(manifest, rng).replace(b"\0", b"") + b"\0" + content
        head = content.find(b"moov") if rng.random() < 0.7 else 0  # sizes and offsets, where bytes matter most
        return manifest + b"\0" + content[:head] + turn_bytes(content[head:], rng)

    return Target([json.dumps(about).encode() + b"\0" + video for about in (clip, job)], read, change)


def result_targets(root: Path, work: Path) -> dict[str, Target]:
    """Make the targets of results: the file of every benchmark, and pickles and confidence maps alone."""
    sample = json.loads((root / "v1.0-mini/sample.json").read_bytes())[0]["token"]
    box = {"sample_token": sample, "translation": [0.0, 0, 0], "size": [1.0, 1, 1], "rotation": [1.0, 0, 0, 0],
           "velocity": [0.0, 0]}  # fmt: skip
    detected = box | {"detection_name": "car", "detection_score": 0.5, "attribute_name": ""}
    tracked = box | {"tracking_id": "1", "tracking_name": "car", "tracking_score": 0.5}
    detections, tracks = ({"meta": {}, "results": {sample: [row]}} for row in (detected, tracked))
    truth_box = [1.0, 1.0, 9.0, 9.0, 1.5, 2.0, 4.0, 1.0, 2.0, 3.0, 0.5, 1, 0, 1, 0, 0, "car"]
    (work / "gt.pkl").write_bytes(pickle.dumps([[[truth_box], []], ["car"], np.ones((1, 4))]))
    openad = [[[[1.5, 2.0, 4.0, 1.1, 2.0, 3.0, 0.5, "car"]], []], ["car"], np.ones((1, 4)), {"av2": True}]
    plane = {"time": 1, "frame": 1, "blob": {"range_distance_m": 300.0, "frame": 1}, "id": "Airplane1",
             "bb": [9.0, 9.0, 8.0, 8.0], "labels": {"is_above_horizon": 1}, "flight_id": "f", "img_name": "a.png"}  # fmt: skip
    (work / "truth.json").write_text(json.dumps({"samples": {"f": {"metadata": {}, "entities": [plane]}}}))
    aot = [{"img_name": "a.png", "detections": [{"x": 9.0, "y": 9.0, "w": 8.0, "h": 8.0, "s": 0.9, "track_id": 1}]}]
    answers = [{"correct_answer": "A", "predicted_answer": "B", "question_type": "2.2 Object Counting (UAV1)",
                "dataset": "Sim3"}]  # fmt: skip

    def scored(benchmark: str, good: list[bytes], change: Mutation = turn_json, truth: Path = root) -> Target:
        path = work / f"{benchmark}{'.json' if change is turn_json else '.pkl'}"
        return Target(good, through(path, lambda: evaluate(benchmark, EvaluationRequest(truth, path))), change)

    def read_alone(name: str, good: list[bytes], read: Callable[[Path], object]) -> Target:
        return Target(good, through(work / name, lambda: read(work / name)), turn_bytes)

    detectors = ("nuscenes-detection", "uav3d", "coperception-uav", "swarm")
    np.savez(work / "confidence.npz", a=np.ones((2, 3, 4), np.float32), b=np.zeros((2, 3, 4), np.float32))
    array = np.arange(6.0).reshape(2, 3)
    values: list[object] = [array, np.float32(2), {"a": [1, "x", None, (array, 2.5)]}, np.array([None, "x"], object)]
    pickles = [pickle.dumps(value, protocol) for value in values for protocol in range(6)]
    predictions = [pickle.dumps(detections, protocol) for protocol in (2, 4)]
    maps = [(work / "confidence.npz").read_bytes()]
    return {
        **{f"{name}-results": scored(name, [json.dumps(detections).encode()]) for name in detectors},
        "nuscenes-tracking-results": scored("nuscenes-tracking", [json.dumps(tracks).encode()]),
        "openad-results": scored("openad", [pickle.dumps(openad)], turn_bytes, work / "gt.pkl"),
        "aot-results": scored("aot", [json.dumps(aot).encode()], truth=work / "truth.json"),
        "aircopbench-results": scored("aircopbench", [json.dumps(answers).encode()]),
        "pickled-predictions": scored("nuscenes-detection", predictions, turn_bytes),
        "pickles": read_alone("x.pkl", pickles, read_pickle),
        "confidence-maps": read_alone("maps.npz", maps, lambda path: list(read_confidence_maps(path))),
    }
