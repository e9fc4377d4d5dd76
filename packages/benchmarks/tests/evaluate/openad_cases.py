"""Random ground truth and submissions in OpenAD's pickles."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np

DATASETS = ("av2", "kitti", "nuscenes", "once", "waymo")
SCENES = 2000
TRUE_TAGS = ("car", "open_manhole", "cement_block", "bike_on_rack", "cone")
TAGS = ("car", "vehicle", "manhole_cover", "block", "traffic_cone", "dog")


def write_case(folder: Path, dimensions: int, seed: int, *, used: int = 250) -> tuple[Path, Path]:
    """Write ``gt.pkl`` and ``result.pkl`` of 2,000 scenes, most of them empty; returns their paths."""
    rng = np.random.default_rng(seed)
    truth: list[list[list[Any]]] = [[] for _ in range(SCENES)]
    found: list[list[list[Any]]] = [[] for _ in range(SCENES)]
    for scene in rng.permutation(SCENES)[:used].tolist():
        truth[scene] = [_object(rng) for _ in range(int(rng.integers(0, 6)))]
        found[scene] = [_detection(rng, truth[scene], dimensions) for _ in range(int(rng.integers(0, 12)))]
    vectors = [_unit(rng.normal(size=(len(names), 8)) + 1.5) for names in (TRUE_TAGS, TAGS)]
    vectors[1][0] = vectors[0][0]
    vectors[1][3] = vectors[0][2] * 1.0
    trained = {name: bool(rng.random() < 0.5) for name in DATASETS} | {"nuscenes": True, "once": False}
    paths = (folder / f"gt{dimensions}_{seed}.pkl", folder / f"result{dimensions}_{seed}.pkl")
    paths[0].write_bytes(pickle.dumps([truth, list(TRUE_TAGS), vectors[0]]))
    paths[1].write_bytes(pickle.dumps([found, list(TAGS), vectors[1], trained]))
    return paths


def _unit(vectors: Any) -> Any:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _object(rng: np.random.Generator) -> list[Any]:
    low = rng.uniform(0, 500, 2)
    box = [*low, *(low + rng.uniform(10, 200, 2))]
    cube = [*rng.uniform(0.5, 4, 3), *rng.uniform(-20, 20, 3), float(rng.uniform(-3, 3))]
    training_flags = rng.integers(0, 2, 5).tolist() if rng.random() < 0.7 else [0] * 5
    return [float(v) for v in (*box, *cube)] + training_flags + [str(rng.choice(TRUE_TAGS))]


def _detection(rng: np.random.Generator, truth: list[list[Any]], dimensions: int) -> list[Any]:
    target = truth[int(rng.integers(len(truth)))] if truth and rng.random() < 0.8 else _object(rng)
    spread = float(rng.choice([0.0, 0.3, 1.5]))
    if dimensions == 2:
        numbers = np.array(target[:4]) + rng.normal(0, 8, 4) * spread
        numbers[2:] = np.maximum(numbers[2:], numbers[:2] + 1)
    else:
        numbers = np.array(target[4:11]) + rng.normal(0, 1, 7) * spread
        numbers[:3] = np.abs(numbers[:3]) + 0.1
    return [float(v) for v in numbers] + [str(rng.choice(TAGS))]
