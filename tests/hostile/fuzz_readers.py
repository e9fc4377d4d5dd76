"""What reads whole datasets, cards, recordings and results, as targets of the fuzzer: all that a command takes from them."""

import json
import pickle
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.hostile.fuzzing import Target, one_table, through, turn_bytes, turn_json, turn_msgpack
from uavsim.errors import InputError

_BENCHMARKS = ("nuscenes-detection", "nuscenes-tracking", "uav3d", "coperception-uav", "swarm")


def opened_wholly(root: Path) -> None:
    """Ask everything of a dataset that ``uavsim.open`` gives."""
    from uavsim.access import open_folder

    dataset = open_folder(root)
    _every_property(dataset)
    for scene in dataset.scenes():
        _every_property(scene)
        scene.map_SE3_drones()
        for sample in scene.samples:
            _every_property(sample)
            sample.drone_ids()
            for image in sample.images:
                _every_property(image)


def _every_property(of: object) -> None:
    for name in dir(type(of)):
        if not name.startswith("_"):
            getattr(of, name)


def reader_targets(root: Path, log: Path, work: Path) -> dict[str, Target]:
    """Make the targets of cards, recordings and opened datasets.

    Args:
        root: a dataset.
        log: of a recording.
        work: scratch.
    """
    from uavsim.annotate import annotate
    from uavsim.capture.recording_reader import read_recording
    from uavsim.files.parse import reading
    from uavsim.replays.twins import named_occlusions

    kept = work / "recording-labelled"
    shutil.copytree(log.parent, kept)

    def labelled() -> None:
        recording = read_recording(kept)
        with reading(kept):
            annotate(recording)
        named_occlusions(recording)

    def reproduced() -> None:
        from uavsim.exports.reproduce import reproduce

        reproduce(work / "card.md", work / "new", scenes="0", simulators=(), run=None, generate=_nothing_made)

    def card_changed(data: bytes, rng: random.Random) -> bytes:
        return b"# A card\n\n```json\n" + turn_json(data[18:-4], rng) + b"\n```"

    card = b"# A card\n\n```json\n" + json.dumps(certificate_of_smoke()).encode() + b"\n```"
    return {
        "opened": one_table(root, lambda: opened_wholly(root)),
        "labelled-recordings": Target([log.read_bytes()], through(kept / log.name, labelled), turn_msgpack),
        "cards": Target([card], through(work / "card.md", reproduced), card_changed),
    }


def certificate_of_smoke() -> dict[str, Any]:
    """Make a certificate of two scenes of the smoke dataset."""
    from uavsim.exports.publish.certificate import FORMAT
    from uavsim.run.request import Request
    from uavsim.run.resolve import identity_of

    identity = identity_of(Request(dataset="smoke", out="-", samples=2))
    hashes = {f"{kind}_sha256": "a0" * 32 for kind in ("plan", "files", "rows")}
    scenes = {f"scene_{n:04d}": {"number": n, "town": "Town10HD", "files": 3, **hashes} for n in range(2)}
    keys = ("dataset", "seed", "fingerprint", "request", "versions")
    return {"format": FORMAT, **{key: identity[key] for key in keys}, "scenes": scenes}


def _nothing_made(request: object) -> Any:
    raise InputError("nothing is made here")


def adopt_target(root: Path, work: Path) -> Target:
    """Make the target of ``adopt``: each input is a manifest, a NUL byte and the video that it names."""
    from uavsim.access import open_folder
    from uavsim.exports.adopt import adopt
    from uavsim.exports.formats.encode_video import encode_mp4

    image = next(image for image in open_folder(root).scene("scene_00").samples[0].images)
    clip = {"clip_id": "scene_00__drone_0", "videos": {f"rgb/{image.channel}": "x.mp4"}}
    job = {
        "clip": {"clip_id": clip["clip_id"], "rig": {"cameras": [{"name": image.channel}]}},
        "files": [{"name": "x.mp4"}],
    }
    video = encode_mp4(iter([image.pixels()] * 3), fps=2, group=1)
    folder = work / "came"
    (folder / "clip").mkdir(parents=True)

    def adopted(data: bytes) -> None:
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

    return Target([json.dumps(about).encode() + b"\0" + video for about in (clip, job)], adopted, change)


def result_targets(root: Path, work: Path) -> dict[str, Target]:
    """Make the targets of results: every benchmark's own file, and pickles alone."""
    from uavsim_benchmarks.evaluate.metrics import evaluate
    from uavsim_benchmarks.evaluate.outcome import EvaluationRequest
    from uavsim_benchmarks.evaluate.readers.confidence_maps import read_confidence_maps
    from uavsim_benchmarks.evaluate.readers.pickles import read_pickle

    def scored(benchmark: str, truth: Path, suffix: str) -> Callable[[bytes], object]:
        path = work / f"{benchmark}{suffix}"
        return through(path, lambda: evaluate(benchmark, EvaluationRequest(truth, path)))

    own = dict(_nuscenes_results(root))
    made = {
        f"{name}-results": Target([json.dumps(own[name]).encode()], scored(name, root, ".json"), turn_json)
        for name in _BENCHMARKS
    }
    np.savez(work / "confidence.npz", a=np.ones((2, 3, 4), np.float32), b=np.zeros((2, 3, 4), np.float32))
    return made | {
        "pickles": Target(list(_pickles()), through(work / "x.pkl", lambda: read_pickle(work / "x.pkl")), turn_bytes),
        "pickled-predictions": Target(
            [pickle.dumps(own["nuscenes-detection"], protocol) for protocol in (2, 4)],
            scored("nuscenes-detection", root, ".pkl"),
            turn_bytes,
        ),
        "confidence-maps": Target(
            [(work / "confidence.npz").read_bytes()],
            through(work / "maps.npz", lambda: list(read_confidence_maps(work / "maps.npz"))),
            turn_bytes,
        ),
        **_other_results(root, work, scored),
    }


def _pickles() -> Iterator[bytes]:
    array = np.arange(6.0).reshape(2, 3)
    values: list[object] = [array, np.float32(2), {"a": [1, "x", None, (array, 2.5)]}, np.array([None, "x"], object)]
    for value in values:
        for protocol in range(6):
            yield pickle.dumps(value, protocol)


def _nuscenes_results(root: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    sample = json.loads((root / "v1.0-mini/sample.json").read_bytes())[0]["token"]
    box = {"sample_token": sample, "translation": [0.0, 0, 0], "size": [1.0, 1, 1], "rotation": [1.0, 0, 0, 0],
           "velocity": [0.0, 0]}  # fmt: skip
    found = box | {"detection_name": "car", "detection_score": 0.5, "attribute_name": ""}
    tracked = box | {"tracking_id": "1", "tracking_name": "car", "tracking_score": 0.5}
    for name in _BENCHMARKS:
        yield name, {"meta": {}, "results": {sample: [tracked if name == "nuscenes-tracking" else found]}}


def _other_results(
    root: Path, work: Path, scored: Callable[[str, Path, str], Callable[[bytes], object]]
) -> dict[str, Target]:
    box = [1.0, 1.0, 9.0, 9.0, 1.5, 2.0, 4.0, 1.0, 2.0, 3.0, 0.5, 1, 0, 1, 0, 0, "car"]
    (work / "gt.pkl").write_bytes(pickle.dumps([[[list(box)], []], ["car"], np.ones((1, 4))]))
    found = [[[[1.5, 2.0, 4.0, 1.1, 2.0, 3.0, 0.5, "car"]], []], ["car"], np.ones((1, 4)), {"av2": True}]
    seen = {"time": 1, "frame": 1, "blob": {"range_distance_m": 300.0, "frame": 1}, "id": "Airplane1",
            "bb": [9.0, 9.0, 8.0, 8.0], "labels": {"is_above_horizon": 1}, "flight_id": "f", "img_name": "a.png"}  # fmt: skip
    (work / "truth.json").write_text(json.dumps({"samples": {"f": {"metadata": {}, "entities": [seen]}}}))
    aot = [{"img_name": "a.png", "detections": [{"x": 9.0, "y": 9.0, "w": 8.0, "h": 8.0, "s": 0.9, "track_id": 1}]}]
    said = [{"correct_answer": "A", "predicted_answer": "B", "question_type": "2.2 Object Counting (UAV1)",
             "dataset": "Sim3"}]  # fmt: skip
    return {
        "openad-results": Target([pickle.dumps(found)], scored("openad", work / "gt.pkl", ".pkl"), turn_bytes),
        "aot-results": Target([json.dumps(aot).encode()], scored("aot", work / "truth.json", ".json"), turn_json),
        "aircopbench-results": Target([json.dumps(said).encode()], scored("aircopbench", root, ".json"), turn_json),
    }
