"""nuScenes' result files, which ``uavsim evaluate`` scores; boxes are in the frame ``map``."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from uavsim_baselines.bev.boxes import Boxes
from uavsim_baselines.errors import BaselineError


def box_rows(boxes: Boxes, *, token: str, classes: Sequence[str]) -> list[dict[str, Any]]:
    """Return the result rows of one sample's boxes; an unknown velocity becomes 0."""
    rows = []
    for k in range(len(boxes)):
        length, width, height = (float(x) for x in boxes.size_lwh_m[k])
        half = float(boxes.yaw_rad[k]) / 2.0
        speed = [float(x) if math.isfinite(x) else 0.0 for x in boxes.velocity_mps[k].tolist()]
        rows.append(
            {
                "sample_token": token,
                "translation": boxes.centre_m[k].tolist(),
                "size": [width, length, height],
                "rotation": [math.cos(half), 0.0, 0.0, math.sin(half)],
                "velocity": speed,
                "detection_name": classes[int(boxes.label[k])],
                "detection_score": float(boxes.score[k]),
                "attribute_name": "",
            }
        )
    return rows


def write_results(path: Path, results: Mapping[str, Sequence[Mapping[str, Any]]], *, about: Mapping[str, Any]) -> None:
    """Write a result file atomically, with ``about`` as ``meta``."""
    sensors = {"use_camera": True, "use_lidar": False, "use_radar": False, "use_map": False, "use_external": False}
    write_json(path, {"meta": {**sensors, **about}, "results": results})


def read_results(path: Path) -> tuple[dict[str, list[dict[str, Any]]], dict[str, Any]]:
    """Return the rows by sample, and ``meta``, of a file that ``write_results`` wrote.

    Raises:
        BaselineError: the file is invalid.
    """
    try:
        content = json.loads(path.read_text("utf-8"))
        return dict(content["results"]), dict(content["meta"])
    except OSError as error:
        raise BaselineError(f"{path}: {error.strerror or error}; run uavsim-baselines predict first") from error
    except (ValueError, KeyError, TypeError) as error:
        raise BaselineError(f"{path}: not a nuScenes result file") from error


def is_newer(path: Path, than: Path) -> bool:
    """Return whether a file exists and is newer than another one."""
    return path.exists() and path.stat().st_mtime_ns >= than.stat().st_mtime_ns


def write_json(path: Path, content: object) -> None:
    """Write a file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_text(json.dumps(content, allow_nan=False) + "\n", "utf-8")
    Path(part).replace(path)
