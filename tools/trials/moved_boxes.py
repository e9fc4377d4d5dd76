"""Move one box in a hundred of a dataset by a metre, in a linked copy, and count those that the validator names.

    scripts/trial moved-boxes DATASET [--version v1.0-mini] [--share 0.01] [--visible 200] [--seed 0] [--any-direction]

DATASET: strict dialect, found valid before. Boxes move along the ground, or any way with --any-direction. Counted are moved
boxes with more than --visible pixels. Prints one JSON line; ends with 4 unless nine of ten are found and of those that nobody
moved at most one in a thousand is named: a track's neighbours of a moved box jump as well and are distinguished.
"""

import argparse
import json
import os
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

from uavsim.validate.dataset import open_dataset
from uavsim.validate.evidence import gather, ready_to_look
from uavsim.validate.validator import findings_of

BOX_CODES = {"pixels.box", "motion.jump", "shape.ground", "shape.twins"}


def main() -> int:
    """Move boxes, let the validator check, and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--version", default="v1.0-mini")
    parser.add_argument("--share", type=float, default=0.01)
    parser.add_argument("--visible", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--any-direction", action="store_true")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory(dir=options.dataset.parent, prefix=".moved-") as folder:
        copy = Path(folder, "data")
        shutil.copytree(options.dataset, copy, copy_function=os.link, ignore=shutil.ignore_patterns("recordings"))
        table = copy / options.version / "sample_annotation.json"
        boxes = json.loads(table.read_text("utf-8"))
        chosen = rng.choice(len(boxes), size=max(1, round(options.share * len(boxes))), replace=False)
        for box in (boxes[i] for i in chosen):
            step = rng.normal(size=3) * (1, 1, options.any_direction)
            box["translation"] = (np.array(box["translation"]) + step / np.linalg.norm(step)).tolist()
        table.unlink()  # the copy is a link: the original stays
        table.write_text(json.dumps(boxes), encoding="utf-8")
        began = time.monotonic()
        with ready_to_look(copy / options.version, workers=os.cpu_count() or 1) as run:
            evidence = gather(open_dataset(copy, options.version), pixels=True, run=run)
        findings = list(findings_of(evidence, {}))
        seconds = time.monotonic() - began
    named = {found.numbers.get("token") for found in findings if found.code in BOX_CODES}
    moved = {boxes[i]["token"] for i in chosen}
    large = {boxes[i]["token"] for i in chosen if boxes[i]["num_lidar_pts"] > options.visible}
    neighbours = {boxes[i][side] for i in chosen for side in ("prev", "next")}
    unmoved = named - moved
    report = {
        "boxes": len(boxes),
        "moved": len(moved),
        "moved_over_visible": len(large),
        "found": len(large & named),
        "found_share": round(len(large & named) / max(len(large), 1), 4),
        "found_of_all": round(len(moved & named) / len(moved), 4),
        "named_neighbours": len(unmoved & neighbours),
        "named_others": len(unmoved - neighbours),
        "seconds": round(seconds, 1),
    }
    print(json.dumps(report))
    good = report["found_share"] >= 0.9 and report["named_others"] <= len(boxes) / 1000
    return 0 if good else 4
