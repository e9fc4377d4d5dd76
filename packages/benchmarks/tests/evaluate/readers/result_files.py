"""A result file of one sample, and the reader's boxes."""

import json
from pathlib import Path
from typing import Any

from uavsim_benchmarks.evaluate.boxes import Boxes
from uavsim_benchmarks.evaluate.nuscenes.detection import CLASSES
from uavsim_benchmarks.evaluate.readers.nuscenes_results import ResultReader

BOX: dict[str, Any] = {
    "sample_token": "s0", "translation": [1.0, 2.0, 3.0], "size": [2.0, 4.0, 1.5], "rotation": [1.0, 0.0, 0.0, 0.0],
    "velocity": [0.0, 0.0], "detection_name": "car", "detection_score": 0.5, "attribute_name": "",
}  # fmt: skip


def read(folder: Path, text: str | dict[str, Any], *, name: str = "r.json", **choices: Any) -> Boxes:
    file = folder / name
    file.write_text(text if isinstance(text, str) else json.dumps(text))
    reader = ResultReader(file, {"s0": 0, "s1": 1}, {"s0": 0, "s1": 1, "s2": 2}, CLASSES, **choices)
    return Boxes.concat(list(reader.blocks()))
