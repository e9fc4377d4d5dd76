"""Random ground truth and results in AOT's own format."""

from typing import Any

import numpy as np

Json = dict[str, Any]
NAMES = ("Airplane1", "Helicopter1", "Bird2", "Flock1", "Airplane3")


def make_case(seed: int) -> tuple[Json, list[Json]]:
    """Return ``groundtruth.json`` and ``result.json`` as Python objects."""
    rng = np.random.default_rng(seed)
    samples: Json = {}
    results: list[Json] = []
    for number in range(int(rng.integers(1, 4))):
        flight = f"{number:x}{rng.integers(1 << 32):08x}"
        samples[flight] = _flight(rng, flight, results, frames=int(rng.integers(40, 120)))
    if not any(entry["detections"] for entry in results):
        results[0]["detections"].append(_detection(rng, [100.0, 100.0, 20.0, 20.0], 0))
    return {"metadata": {"version": "1.0"}, "samples": samples}, results


def _flight(rng: np.random.Generator, flight: str, results: list[Json], *, frames: int) -> Json:
    tracks = [_track(rng, name, frames) for name in rng.permutation(NAMES)[: rng.integers(0, 4)]]
    if not results:  # the starter kit ends without a valid encounter, a small and a large object
        near = {frame: 380.0 - 3 * frame for frame in range(frames)}
        intruder = {"ranges": near, "horizon": -1, "aspect": 1.0}
        tracks.append(_track(rng, "Airplane7", frames) | intruder | {"planned": True, "size": 8.0})
        tracks.append(_track(rng, "Drone8", frames) | intruder | {"planned": False, "size": 40.0})
    entities = []
    quality = rng.random()
    for frame in range(frames):
        time = 1_573_043_646_380_340_792 + frame * 100_000_000
        image = f"{time}{flight}.png"
        base = {"time": time, "flight_id": flight, "img_name": image}
        objects: list[Json] = []
        found: list[Json] = []
        for track in tracks:
            if frame not in track["ranges"] or rng.random() < 0.03:
                continue
            blob: Json = {"frame": frame}
            if track["planned"]:
                blob["range_distance_m"] = track["ranges"][frame]
            size = track["size"]
            box = [float(v) for v in (300 + 2 * frame + track["at"], 400 + track["at"], size, size * track["aspect"])]
            objects.append(
                base | {"blob": blob, "id": track["name"], "bb": box, "labels": {"is_above_horizon": track["horizon"]}}
            )
            if rng.random() < quality:
                found += [_detection(rng, box, track["at"] % 7) for _ in range(1 + (rng.random() < 0.05))][:1]
        entities += objects or [base | {"blob": {"frame": frame}, "labels": {}}]
        if rng.random() < 0.15:
            found.append(_detection(rng, [*rng.uniform(0, 2000, 2).tolist(), 9.0, 9.0], int(rng.integers(20, 26))))
        results.append({"img_name": image, "detections": found})
    metadata = {
        "fps": 10.0,
        "number_of_frames": frames,
        "duration": frames * 100.0,
        "resolution": {"height": 2048, "width": 2448},
    }
    return {"metadata": metadata, "entities": entities}


def _track(rng: np.random.Generator, name: str, frames: int) -> Json:
    begin, end = sorted(rng.integers(0, frames, 2).tolist())
    start, speed = rng.uniform(200, 900), rng.uniform(-6, 1)
    ranges = {frame: float(round(max(20.0, start + speed * (frame - begin)), 3)) for frame in range(begin, end + 1)}
    return {
        "name": str(name), "planned": not name.startswith(("Bird", "Flock")) and rng.random() < 0.9, "ranges": ranges,
        "size": float(rng.choice([3.0, 8.0, 12.0, 40.0])), "aspect": float(rng.choice([0.5, 1.0, 2.0])),
        "at": int(rng.integers(0, 900)), "horizon": int(rng.choice([-1, 0, 1])),
    }  # fmt: skip


def _detection(rng: np.random.Generator, box: list[float], track: int) -> Json:
    left, top, width, height = box
    shift = rng.normal(0, 0.3, 2) * [width, height]
    return {
        "n": "airborne", "x": left + width / 2 + shift[0], "y": top + height / 2 + shift[1],
        "w": width * float(rng.uniform(0.6, 1.5)), "h": height * float(rng.uniform(0.6, 1.5)),
        "s": float(round(rng.uniform(0.05, 1), 3)), "track_id": int(track if rng.random() < 0.95 else track + 100),
    }  # fmt: skip


ODD = ("no tracks", "some tracks", "equal scores", "zero scores", "two tracks an object", "images left out", "ranges")


def make_odd(truth: Json, results: list[Json], seed: int) -> None:
    """Change a case in place, each seed in one way of ``ODD``."""
    rng = np.random.default_rng(seed)
    kind = ODD[seed % len(ODD)]
    for entry in results:
        for detection in list(entry["detections"]):
            if kind == "no tracks":
                detection.pop("track_id")
            elif kind == "some tracks" and rng.random() < 0.3:
                detection["track_id"] = None
            elif kind == "equal scores":
                detection["s"] = 0.5
            elif kind == "zero scores":
                detection["s"] = float(rng.choice([0.0, 0.5]))
            elif kind == "two tracks an object" and rng.random() < 0.5:
                entry["detections"].append(detection | {"track_id": detection["track_id"] + 1000})
    if kind == "images left out":
        results[:] = [entry for entry in results if rng.random() < 0.8 or entry is results[0]]
    for flight in truth["samples"].values() if kind == "ranges" else ():
        for entity in flight["entities"]:
            if "range_distance_m" in entity["blob"] and entity["id"] != "Airplane7" and rng.random() < 0.1:
                entity["blob"]["range_distance_m"] = [None, 330.0, 300.0, 700.0][int(rng.integers(4))]
