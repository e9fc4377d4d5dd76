"""Compare late images of whole steps with the frames to which OpenCOOD and Griffin shift, by their own code.

    scripts/trial index-shifts [FOLDER] [--opencood CHECKOUT] [--griffin CHECKOUT]

``FOLDER`` is a dataset whose clocks fire when its keyframes are taken, every 0.1 s, and whose messages arrive at once; without
one it is flown. The images that drone 0 knows after 0, 100, ... 400 ms must be those of the sample that OpenCOOD's
``time_delay_calculation`` and the lines of Griffin's ``generate_nuscenes_pkl.py`` name. Then a flight whose messages take 200
ms is exported as received: every image and pose of an agent must be that of the frame to which OpenCOOD shifts in the plain
export. Ends with 0 only if all are.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, TypeAlias

import numpy as np
import yaml

import uavsim
from tools.common.program import run_uavsim
from tools.common.small_dataset import write_plans
from uavsim.access.scenes import Scene
from uavsim.dataset.schema import SAMPLE

Shift: TypeAlias = Callable[[Scene, int, int], int]
"""A scene, the number of a sample in it, a latency in ms -> the number of the sample that is seen."""

FIRST: Final = 5
LATE_MS: Final = 200
DATASET: Final = """
description: Clocks that fire when keyframes are taken.
seed: 38
version: v1.0-mini
towns:
  Town10HD: {scenes: 1}
samples: 12
keyframe_s: 0.1
formation: coperception
rig: tiny
clocks: {rate_hz: 10}
traffic: {vehicles: 20}
"""


def opencood(checkout: Path) -> Shift:
    """Return OpenCOOD's shift, its own function run as it is."""
    path = checkout / "opencood/data_utils/datasets/basedataset.py"
    found = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)]
    delay = _run([node for node in found if node.name == "time_delay_calculation"], path)["time_delay_calculation"]

    def shift(_scene: Scene, key: int, latency_ms: int) -> int:
        setting = SimpleNamespace(async_mode="sim", async_flag=True, async_overhead=latency_ms)
        return key - int(delay(setting, ego_flag=False))

    return shift


def griffin(checkout: Path) -> Shift:
    """Return Griffin's shift: its own loop over earlier samples, run as it is on our tables."""
    path = checkout / "tools/griffin_data_converter/generate_nuscenes_pkl.py"
    loops = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.For)]
    own = [loop for loop in loops if ast.unparse(loop.iter) == "range(delay_frame_num)"]

    def shift(scene: Scene, key: int, latency_ms: int) -> int:
        rows = {row["token"]: row for row in scene.rows(SAMPLE)}
        sample = rows[scene.samples[key].token]
        tables = SimpleNamespace(get=lambda _table, token: rows[token])
        known = {"nusc": tables, "sample": sample, "delay_sample": sample, "delay_frame_num": latency_ms // 100}
        token = _run(own, path, **known)["delay_sample"]["token"]
        return [sample.token for sample in scene.samples].index(token)

    return shift


def _run(nodes: list[Any], path: Path, **known: Any) -> dict[str, Any]:
    names: dict[str, Any] = {"np": np, **known}
    exec(compile(ast.Module(nodes, []), str(path), "exec"), names)
    return names


def count_same(scene: Scene, shift: Shift) -> tuple[int, int]:
    """Return how many images that are known late are those of the named sample, and of how many."""
    same = compared = 0
    for latency_ms in range(0, 401, 100):
        for key in range(FIRST, len(scene)):
            known = scene.known_at(scene.samples[key].timestamp_us - latency_ms * 1000, agent=0)
            wanted = {image.token for image in scene.samples[shift(scene, key, latency_ms)].images}
            same += len(wanted & {image.token for own in known.values() for image in own.images})
            compared += len(wanted)
    return same, compared


def count_received(folder: Path, work: Path, shift: Shift) -> tuple[int, int]:
    """Return how many images and poses of an export as received are those of the shifted frame, and of how many."""
    same = compared = 0
    for name, words in (("plain", ()), ("received", ("--received",))):
        run_uavsim("export", str(folder), str(work / name), "--format", "opv2v", *words, cwd=work)
    for scene in uavsim.open(folder):
        for path in sorted((work / "received/all" / scene.name).rglob("*.yaml")):
            agent, key = path.parent.name, int(path.stem)
            older = (
                work / "plain/all" / scene.name / agent / f"{shift(scene, key, LATE_MS) if agent != '0' else key:06d}"
            )
            pose, wanted = (yaml.safe_load(p.read_text("utf-8")) for p in (path, older.with_suffix(".yaml")))
            pairs = [(pose["lidar_pose"], wanted["lidar_pose"])]
            for image in sorted(path.parent.glob(f"{path.stem}_camera*")):
                other = older.with_name(image.name.replace(path.stem, older.name))
                pairs.append((image.read_bytes(), other.read_bytes()))
            same, compared = same + sum(a == b for a, b in pairs), compared + len(pairs)
    return same, compared


def main() -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--opencood", type=Path)
    parser.add_argument("--griffin", type=Path)
    chosen = parser.parse_args()
    shifts = {"OpenCOOD": chosen.opencood and opencood(chosen.opencood),
              "Griffin": chosen.griffin and griffin(chosen.griffin)}  # fmt: skip
    good = any(shifts.values())
    with tempfile.TemporaryDirectory() as made:
        folder = chosen.folder or fly(Path(made))
        for name, shift in shifts.items():
            for scene in uavsim.open(folder) if shift else ():
                same, compared = count_same(scene, shift)
                print(f"{scene.name}: {same} of {compared} late images are those to which {name} shifts")
                good = good and same == compared > 0
        if (shift := shifts["OpenCOOD"]) is not None:
            same, compared = count_received(fly(Path(made), late=True), Path(made), shift)
            print(
                f"as received after {LATE_MS} ms: {same} of {compared} images and poses are those to which OpenCOOD shifts"
            )
            good = good and same == compared > 0
    return 0 if good else 1


def fly(work: Path, *, late: bool = False) -> Path:
    """Make the dataset in a folder, with messages that arrive at once or late."""
    name, messages = (
        ("late-steps", f", messages: {{latency_s: [{LATE_MS / 1e3}, {LATE_MS / 1e3}]}}")
        if late
        else ("whole-steps", "")
    )
    write_plans(work, name=name, dataset=DATASET.replace("rate_hz: 10", f"rate_hz: 10{messages}"))
    run_uavsim("generate", "--dataset", name, "--out", str(work / name), cwd=work)
    return work / name


if __name__ == "__main__":
    sys.exit(main())
