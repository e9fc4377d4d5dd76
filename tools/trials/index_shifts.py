"""Compare late images of whole steps with the frames to which OpenCOOD and Griffin shift, by their own code.

    scripts/trial index-shifts [--opencood CHECKOUT] [--griffin CHECKOUT]

Clocks of drones and a car fire when keyframes are taken, every 0.1 s; messages take 0, 200 or 400 ms. The images that drone
0 knows after 0, 100, ... 400 ms must be those of the sample that OpenCOOD's ``time_delay_calculation`` names. Each flight is
also exported as received. Every image and pose of an agent must be that of the frame to which OpenCOOD shifts in the plain
export. Griffin's converters make their infos of both exports: of the plain one with as many frames of delay, of the one as
received with none. Images, the pose between the two lidars and boxes of each sample must be the same. V2X-Sim has no shift:
each image, pose and time of its tables must be the shifted sample's. Ends with 0 only if all are. Griffin's code runs in
``.venv-judge``.
"""

import argparse
import ast
import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, TypeAlias

import numpy as np
import yaml

import uavsim
from tools.common.program import run_uavsim
from tools.common.small_dataset import write_plans
from uavsim.access.scenes import Scene
from uavsim.validate.devkit_process import judge_python

Shift: TypeAlias = Callable[[int, int], int]
"""The number of a sample, a latency in ms -> the number of the sample that is seen."""

FIRST: Final = 5
LATE_MS: Final = (0, 200, 400)
CLOSE: Final = 1e-5  # metres, radians: labels have six decimals
DATASET: Final = """
description: Clocks that fire when keyframes are taken.
seed: 38
version: v1.0-mini
towns:
  Town10HD: {scenes: 1}
samples: 16
keyframe_s: 0.1
formation: coperception
rig: griffin_drone
clocks: {rate_hz: 10, ground: true, messages: {latency_s: [%g, %g]}}
traffic: {vehicles: 20}
vehicles: {count: 1, rig: griffin_car, image_px: [96, 54]}
"""
DRONE: Final = """
width_px: 96
height_px: 54
sensors: [rgb, instance]
cameras: {FRONT: {}, BACK: {yaw_deg: 180}, LEFT: {yaw_deg: -90}, RIGHT: {yaw_deg: 90}, BOTTOM: {pitch_deg: -90}}
"""
MMCV: Final = """
import pathlib, pickle
track_iter_progress = iter
def dump(data, path):
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(path).write_bytes(pickle.dumps(data))
"""  # the two functions that Griffin takes of mmcv


def opencood(checkout: Path) -> Shift:
    """Return OpenCOOD's shift, its own function run as it is."""
    path = checkout / "opencood/data_utils/datasets/basedataset.py"
    found = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)]
    names: dict[str, Any] = {"np": np}
    delay = [node for node in found if node.name == "time_delay_calculation"]
    exec(compile(ast.Module(list(delay), []), str(path), "exec"), names)

    def shift(key: int, latency_ms: int) -> int:
        setting = SimpleNamespace(async_mode="sim", async_flag=True, async_overhead=latency_ms)
        return key - int(names["time_delay_calculation"](setting, ego_flag=False))

    return shift


def known_late(scene: Scene, shift: Shift) -> Iterator[bool]:
    """Yield whether each image that drone 0 knows late is of the named sample."""
    for latency_ms in range(0, 401, 100):
        for key in range(FIRST, len(scene)):
            known = scene.known_at(scene.samples[key].timestamp_us - latency_ms * 1000, agent=0)
            had = {image.token for own in known.values() for image in own.images}
            yield from (image.token in had for image in scene.samples[shift(key, latency_ms)].images)


def by_opencood(work: Path, latency_ms: int, shift: Shift) -> Iterator[bool]:
    """Yield whether each image and pose of an export as received is that of the shifted frame."""
    for path in sorted((work / "opv2v-received").rglob("*.yaml")):
        agent, key = path.parent.name, int(path.stem)
        plain = work / "opv2v-plain" / path.parent.relative_to(work / "opv2v-received")
        older = plain / f"{shift(key, latency_ms) if agent != '0' else key:06d}"
        pose, wanted = (yaml.safe_load(p.read_text("utf-8")) for p in (path, older.with_suffix(".yaml")))
        yield pose["lidar_pose"] == wanted["lidar_pose"]
        for image in sorted(path.parent.glob(f"{path.stem}_camera*")):
            yield image.read_bytes() == older.with_name(image.name.replace(path.stem, older.name)).read_bytes()


def by_v2xsim(work: Path, latency_ms: int) -> Iterator[bool]:
    """Yield whether V2X-Sim's tables as received have each image, pose and time of the plain ones' shifted sample."""
    plain, received = (uavsim.open(work / f"v2xsim-{name}/all").scene("scene_0000") for name in ("plain", "received"))
    for sample in received:
        for image in sample.images:
            late = 0 if image.channel.endswith("_id_1") else latency_ms // 100
            older = next(i for i in plain.samples[sample.number - late].images if i.channel == image.channel)
            yield image.timestamp_us == older.timestamp_us
            yield np.array_equal(image.map_SE3_flu.matrix, older.map_SE3_flu.matrix)
            yield np.array_equal(image.pixels(), older.pixels())
        yield len(sample.images) == (len(plain.samples[0].images) if sample.number * 100 >= latency_ms else 4)


def by_griffin(work: Path, latency_ms: int, checkout: Path) -> Iterator[bool]:
    """Yield whether each image, pose and set of boxes of Griffin's infos as received is that of its delayed infos."""
    roots = {name: convert_griffin(work, name, checkout) for name in ("plain", "received")}
    for side in ("cooperative", "early-fusion"):
        delayed = f"{side}-delay-{latency_ms // 100}" if latency_ms else side
        wanted, got = read_infos(roots["plain"], delayed), read_infos(roots["received"], side)
        yield [info["timestamp"] for info in wanted] == [info["timestamp"] for info in got]
        for own, other in zip(wanted, got, strict=True):
            yield own.get("vehLidar2airLidar_rt") == other.get("vehLidar2airLidar_rt")
            yield np.allclose(own["gt_boxes"], other["gt_boxes"], rtol=0, atol=CLOSE)
            yield own["gt_names"].tolist() == other["gt_names"].tolist()
            for name, camera in own["cams"].items():
                files = (
                    roots["plain"] / side / camera["data_path"],
                    roots["received"] / side / other["cams"][name]["data_path"],
                )
                yield files[0].read_bytes() == files[1].read_bytes()


def convert_griffin(work: Path, name: str, checkout: Path) -> Path:
    """Run Griffin's two converters on an export; returns the folder of what they made."""
    (release,), root = (work / f"griffin-{name}").glob("*/griffin-release"), work / f"{name}-nuscenes"
    (scene,) = json.loads((release / "vehicle-side/scene_infos.json").read_text("utf-8"))
    split = {"batch_split": {"train": [f"scene-0000-{scene['name']}"], "val": []}}
    (work / "split.json").write_text(json.dumps(split), "utf-8")
    (work / "mmcv.py").write_text(MMCV, "utf-8")
    folder = checkout.resolve() / "tools/griffin_data_converter"
    for words in (
        ("trans_kitti2nuscenes.py", "--source_dir", release, "--target_dir", root),
        ("generate_nuscenes_pkl.py", "--root_path", root, "--out_path", root / "infos", "--delay"),
    ):
        command = [judge_python(), folder / words[0], *words[1:], "--split_file", work / "split.json", "--early_fusion"]
        done = subprocess.run(
            list(map(str, command)),
            env={**os.environ, "PYTHONPATH": str(work)},
            text=True,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"Griffin's {words[0]} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return root


def read_infos(root: Path, side: str) -> list[dict[str, Any]]:
    """Read what Griffin's converter says of each sample."""
    found: list[dict[str, Any]] = pickle.loads((root / "infos" / side / "griffin_infos_train.pkl").read_bytes())[
        "infos"
    ]
    return found


def fly(work: Path, latency_ms: int, kinds: list[str]) -> None:
    """Make a dataset in a folder, and its exports, plain and as received."""
    write_plans(work, name="steps", dataset=DATASET % (latency_ms / 1e3, latency_ms / 1e3))
    (work / "flight_plans/rigs/griffin_drone.yaml").write_text(DRONE, "utf-8")
    run_uavsim("generate", "--dataset", "steps", "--out", "out", cwd=work)
    for kind in kinds:
        for name, words in (("plain", ()), ("received", ("--received",))):
            run_uavsim("export", "out", f"{kind}-{name}", "--format", kind, *words, cwd=work)


def main() -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--opencood", type=Path)
    parser.add_argument("--griffin", type=Path)
    chosen = parser.parse_args()
    kinds = [kind for kind, checkout in (("opv2v", chosen.opencood), ("griffin", chosen.griffin)) if checkout]
    good = True
    for latency_ms in LATE_MS:
        with tempfile.TemporaryDirectory() as made:
            work, found = Path(made), dict[str, list[bool]]()
            fly(work, latency_ms, ["v2xsim", *kinds])
            found["as received, V2X-Sim's tables"] = [*by_v2xsim(work, latency_ms)]
            if chosen.opencood:
                shift = opencood(chosen.opencood)
                if not latency_ms:
                    found["known late, OpenCOOD"] = [*known_late(uavsim.open(work / "out").scene("scene_0000"), shift)]
                found["as received, OpenCOOD"] = [*by_opencood(work, latency_ms, shift)]
            if chosen.griffin:
                found["as received, Griffin"] = [*by_griffin(work, latency_ms, chosen.griffin)]
        for what, same in found.items():
            print(
                f"messages of {latency_ms} ms: {sum(same)} of {len(same)} are those of the shifted index ({what})",
                flush=True,
            )
            good = good and all(same) and len(same) > 1
    return 0 if good else 1
