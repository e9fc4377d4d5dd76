"""Score a result file with the unmodified devkit, and print one JSON report.

    .venv-judge/bin/python devkit_score.py DATAROOT VERSION RESULTS [--split NAME]

The first box decides between detection and tracking. The default scenes are those of the results.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import devkit_metrics as metrics
from nuscenes.nuscenes import NuScenes


def main() -> int:
    """Print the scores, or the devkit's error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataroot")
    parser.add_argument("version")
    parser.add_argument("results")
    parser.add_argument("--split")
    options = parser.parse_args()
    with metrics.prints_to_stderr():
        try:
            report = {"ok": True, **_score(options)}
        except Exception as error:  # noqa: BLE001 - whatever the devkit raises is its report
            report = {"ok": False, "problem": f"{type(error).__name__}: {error}"}
    json.dump(report, sys.stdout, indent=1)
    sys.stdout.write("\n")
    return 0 if report["ok"] else 4


def _score(options: argparse.Namespace) -> dict[str, Any]:
    dataroot, version = Path(options.dataroot), options.version
    content = json.loads(Path(options.results).read_text())
    boxes = content["results"]
    first: dict[str, Any] = next((box for found in boxes.values() for box in found), {})
    task = "tracking" if "tracking_id" in first else "detection"
    nusc = NuScenes(version=version, dataroot=str(dataroot), verbose=False)
    scenes = _scenes(nusc, dataroot / version, boxes, options.split)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        result = work / "results.json"
        samples = metrics.samples_of(nusc, scenes)
        scored = {"meta": content.get("meta", {}), "results": {sample: boxes.get(sample, []) for sample in samples}}
        result.write_text(json.dumps(scored))
        with metrics.linked_with_split(dataroot, version, scenes, work) as root:
            report = metrics.evaluate(
                nusc, result, work, task=task, version=version, root=root, split=metrics.OWN_SPLIT
            )
    ignored = set(boxes) - set(samples)
    return {"task": task, "scenes": len(scenes), "samples": len(samples), "samples_ignored": len(ignored), **report}


def _scenes(nusc: NuScenes, tables: Path, boxes: dict[str, Any], split: str | None) -> list[str]:
    if split:
        return list(json.loads((tables / "splits.json").read_text())[split])
    tokens = {sample["scene_token"] for sample in nusc.sample if sample["token"] in boxes}
    return [scene["name"] for scene in nusc.scene if scene["token"] in tokens]


if __name__ == "__main__":
    sys.exit(main())
