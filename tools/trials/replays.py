"""Replay a small dataset in every backend and hold the replays against it, headless.

    scripts/trial replays [FOLDER] [--topologies carla,bridge,merged]

Two towns, one scene each, small images, walkers, parked vehicles and rain. In each backend an unchanged replay must be the
same bytes, tables and images. In the first backend also: with another weather masks and boxes are the same and images are not;
with a lidar added, points lie on the boxes that were there; with a class hidden, its boxes are gone and all others stay.
Ends with 0 only if everything holds.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any, Final

from tools.common.leftovers import dataset_files, differing
from tools.common.program import run_uavsim
from tools.common.small_dataset import write_plans

DATASET: Final = """
description: Small images, for replays.
seed: 5
version: v1.0-mini
towns:
  Town10HD: {routes: [town10_row3_col3], first_scene: 0, scenes: 1}
  Town03: {routes: [town03_row3_col3], first_scene: 100, scenes: 1}
samples: 2
keyframe_s: 0.5
warmup_s: 1
formation: cross
rig: tiny
weather: hard_rain
traffic: {vehicles: 25, walkers: 6, label_parked: true}
splits: {rule: uav3d}
"""


def rows(root: Path, table: str) -> list[dict[str, Any]]:
    """Return a table's rows."""
    found: list[dict[str, Any]] = json.loads((root / "v1.0-mini" / f"{table}.json").read_text())
    return found


class Trial:
    """Runs commands in one folder and counts what does not hold."""

    def __init__(self, work: Path) -> None:
        """Write the YAML files."""
        self.work, self.bad = work, 0
        write_plans(work, name="replays", dataset=DATASET)

    def holds(self, what: str, good: bool, detail: str) -> None:
        """Print one line."""
        self.bad += not good
        print(f"{'good' if good else 'BAD '} {what:34}{detail}", flush=True)

    def unchanged(self, topology: str) -> Path:
        """Generate in a backend and replay with nothing changed."""
        source, again = self.work / topology, self.work / f"{topology}-again"
        words = ("--dataset", "replays", "--topology", topology)
        flown = run_uavsim("generate", *words, "--out", str(source), cwd=self.work)
        shown = run_uavsim("replay", str(source), "--out", str(again), cwd=self.work)
        one = dataset_files(source)
        differ = differing(one, dataset_files(again))
        took = f"{flown.seconds:.0f} s flown, {shown.seconds:.0f} s shown"
        detail = f"{len(one)} files, {len(differ)} differ {differ[:3]}; {took}"
        self.holds(f"{topology}: unchanged", not differ, detail)
        return source

    def other_weather(self, source: Path) -> None:
        """Masks and boxes stay, images do not."""
        out = self.work / "weather"
        run_uavsim("replay", str(source), "--out", str(out), "--weather", "clear_noon", cwd=self.work)
        masks = dataset_files(source, "masks") == dataset_files(out, "masks")
        boxes = rows(source, "sample_annotation") == rows(out, "sample_annotation")
        one, other = dataset_files(source, "samples"), dataset_files(out, "samples")
        same = [key for key in one if key.endswith(".png") and one[key] == other.get(key)]
        detail = f"masks equal: {masks}, boxes equal: {boxes}, images equal: {len(same)} of {len(one)}"
        self.holds("another weather", masks and boxes and not same and one.keys() == other.keys(), detail)

    def more_sensors(self, source: Path) -> None:
        """Points lie on the original boxes; images and masks stay."""
        out = self.work / "sensors"
        run_uavsim("replay", str(source), "--out", str(out), "--sensors", "+lidar,+depth", cwd=self.work)
        one, other = dataset_files(source, "samples", "masks"), dataset_files(out, "samples", "masks")
        images = all(other[key] == digest for key, digest in one.items() if key.endswith(".png"))
        before = {row["token"]: row for row in rows(source, "sample_annotation")}
        after = {row["token"]: row for row in rows(out, "sample_annotation")}
        placed = ("translation", "rotation", "size")
        boxes = before.keys() == after.keys() and all(before[t][k] == after[t][k] for t in before for k in placed)
        seen = [after[t]["num_lidar_pts"] for t, row in before.items() if row["num_lidar_pts"] >= 100]
        hit = sum(count > 0 for count in seen)
        detail = f"images equal: {images}, boxes equal: {boxes}, points on {hit} of {len(seen)} boxes with 100 pixels"
        self.holds("lidar and depth added", images and boxes and len(seen) > 0 and hit >= 0.9 * len(seen), detail)

    def without(self, source: Path) -> None:
        """A hidden class is in no table and in no mask; everything else is where it was."""
        out = self.work / "hidden"
        run_uavsim("replay", str(source), "--out", str(out), "--hide", "pedestrian", "--hide", "2", cwd=self.work)
        gone = {
            row["token"]
            for row in rows(source, "instance")
            if row["uav_label"] == "pedestrian" or row["uav_instance_id"] == 2
        }
        before = [row for row in rows(source, "sample_annotation") if row["instance_token"] not in gone]
        after = {row["token"]: row for row in rows(out, "sample_annotation")}
        kept = after.keys() == {row["token"] for row in before}
        placed = all(after[row["token"]]["translation"] == row["translation"] for row in before if kept)
        detail = f"{len(gone)} objects hidden, {len(before)} boxes left as they were: {kept and placed}"
        self.holds("hidden actors", kept and placed and len(gone) > 1, detail)


def main() -> int:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--topologies", default="carla,bridge,merged")
    options = parser.parse_args()
    work = (options.folder or Path(tempfile.mkdtemp(prefix="uavsim-replays-"))).resolve()
    trial = Trial(work)
    sources = [trial.unchanged(topology) for topology in options.topologies.split(",")]
    trial.other_weather(sources[0])
    trial.more_sensors(sources[0])
    trial.without(sources[0])
    return 4 if trial.bad else 0
