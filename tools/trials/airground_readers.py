"""Have other people's programs read what drones, cars and a pole recorded, and hold what they read against the dataset.

    scripts/trial airground-readers [FOLDER] [--griffin CHECKOUT] [--py123d PYTHON] [--opencood CHECKOUT] [--airv2x CHECKOUT]
                                    [--mmdet3d CHECKOUT]

Three small datasets are flown into FOLDER, or taken from there, and exported. py123d converts Griffin's layout by its own
command, and its cameras project the boxes; Griffin's converter makes nuScenes of it, which the devkit loads; OpenCOOD and
AirV2X read every agent's boxes; the devkit scores the truth of a car's view, of which MMDetection3D's converter makes infos.
``PYTHON`` is that of an environment with py123d 0.7; OpenCOOD, AirV2X and MMDetection3D need ``scripts/setup
--torch-readers``. Who is not named is left out. Prints a line for each; ends with 0 only if all that ran agree.
"""

import argparse
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np

import uavsim
from tools.common import ROOT
from tools.common.program import run_uavsim
from uavsim.access import Sample
from uavsim.images import codec
from uavsim.typing import FloatArray, JsonDict
from uavsim.validate.devkit_process import judge_python, run_judge

READERS: Final = ROOT / "tools/environments/readers"
TORCH: Final = ROOT / ".venv-torch/bin/python"
MOST_M: Final = 1e-3
MOST_PX: Final = 1.0  # a mask's pixel beside its box: half of it may be outside
EVERY: Final = 7  # pixel of a mask
NUMBERS: Final = 1 << 16  # of objects in a mask; Griffin's ids go on from scene to scene
_COMMON: Final = """
description: What readers of other people are shown.
weather: clear_noon
traffic: {vehicles: 60, walkers: 10}
splits: {rest: uav_train}
"""
DATASETS: Final = {
    "griffin": """
seed: 5
version: v1.0-mini
towns:
  Town10HD: {scenes: 2, routes: [town10_row3_col3, town10_row2_col3]}
  Town03: {scenes: 1, routes: [town03_row3_col3]}
samples: 10
keyframe_s: 0.1
formation: solo
rig: griffin_drone
vehicles: {count: 1, rig: griffin_car}
""",
    "airv2x": """
seed: 33
version: v1.0-mini
towns: {Town10HD: {scenes: 1, routes: [town10_row3_col3]}}
samples: 3
keyframe_s: 0.5
formation: three
rig: airv2x_drone
vehicles: {count: 2, rig: airv2x_car}
roadside: {count: 1, rig: airv2x_roadside, pole_m: 10}
""",
    "car": """
seed: 33
version: v1.0-trainval
towns: {Town10HD: {scenes: 1, routes: [town10_row3_col3]}, Town02: {scenes: 1, routes: [town02_row2_col3]}}
samples: 5
keyframe_s: 0.5
formation: solo
rig: nadir_small
vehicles: {count: 1, rig: nuscenes_car, image_px: [400, 224]}
""",
}
LOADED: Final = """
import json, sys
from nuscenes.nuscenes import NuScenes
data = NuScenes("v1.0-trainval", sys.argv[1], verbose=False)
boxes = [(a["sample_token"], a["id"], a["translation"], a["instance_token"]) for a in data.sample_annotation]
file = lambda s: data.get("sample_data", s["data"]["CAM_FRONT"])["filename"]
print(json.dumps({"boxes": boxes, "samples": [(s["token"], file(s), s["scene_token"]) for s in data.sample]}))
"""


def flown(work: Path, name: str) -> Path:
    """Return the folder of a dataset; what is there already is taken."""
    root, plan = work / name, work / f"{name}.yaml"
    plan.write_text(_COMMON + DATASETS[name], "utf-8")
    rig = (ROOT / "flight_plans/rigs/uav3d.yaml").read_text("utf-8")
    (work / "flight_plans/rigs").mkdir(parents=True, exist_ok=True)
    large = rig.replace("width_px: 800", "width_px: 1920").replace("height_px: 450", "height_px: 1080")
    (work / "flight_plans/rigs/griffin_drone.yaml").write_text(large, "utf-8")
    done = run_uavsim("generate", "--dataset", str(plan), "--out", str(root), cwd=work)
    print(f"{name}: {done.seconds:.0f} s")
    return root


def exported(root: Path, kind: str) -> Path:
    """Export a dataset anew."""
    out = root.with_name(f"{root.name}-{kind}")
    shutil.rmtree(out, ignore_errors=True)
    run_uavsim("export", str(root), str(out), "--format", kind, cwd=root.parent)
    return out / "all"


def run(*command: object, cwd: Path | None = None, **variables: str) -> str:
    """Run a program that must end well, and return what it printed."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | variables
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words[:3])} ended with {done.returncode}: {done.stderr[-1500:]}")
    return done.stdout


def read(script: str, *arguments: object) -> Any:
    """Return what a reader in ``.venv-torch`` found."""
    return json.loads(run(TORCH, "-W", "ignore", READERS / script, *arguments).splitlines()[-1])


def centres_m(sample: Sample) -> dict[int, FloatArray]:
    """Return where a sample's objects are in the map."""
    boxes = sample.boxes
    return dict(zip(boxes.instance_id.tolist(), boxes.map_SE3_box.translation_m, strict=True))


def beside_px(mask: FloatArray, corners_px: FloatArray) -> float:
    """Return how far the furthest of (N, 2) pixels is outside the outline of a box's (8, 2) corners."""
    hull = cv2.convexHull(corners_px.astype(np.float32))[:, 0].astype(np.float64)
    edges = np.roll(hull, -1, axis=0) - hull
    inward = np.stack([-edges[:, 1], edges[:, 0]], axis=1) / np.linalg.norm(edges, axis=1)[:, None]
    inside = np.einsum("ek,nek->ne", inward, mask[:, None] - hull)
    sign = np.sign(np.einsum("ek,ek->e", inward, hull.mean(axis=0) - hull))
    return float(-(inside * sign).min())


def py123d(python: str, root: Path, work: Path) -> str:
    """Convert both sides, and compare their boxes with one another and with every mask."""
    release = exported(root, "griffin") / "griffin-release"
    split = work / "griffin-split"
    shutil.rmtree(split, ignore_errors=True)
    (split / "data").mkdir(parents=True)
    (split / "data/griffin_50scenes_25m").symlink_to(release.parent)
    names = scene_names(release)
    (split / "griffin_50scenes_25m.json").write_text(json.dumps({"batch_split": {"train": names, "val": []}}))
    sides: dict[str, list[JsonDict]] = {}
    for side in ("griffin", "griffin_drone"):
        words = (
            f"dataset={side}",
            "dataset.parser.splits=[griffin_50scenes_25m_train]",
            f"dataset.parser.split_data_root={split}",
            f"dataset_paths.griffin_data_root={split}/data",
            f"dataset_paths.py123d_data_root={split}/{side}",
            "execution=sequential_executor",
        )
        run(Path(python).with_name("py123d-conversion"), *words, cwd=split)
        out = split / f"{side}.json"
        run(python, READERS / "read_py123d.py", split / side, out, GRIFFIN_DATA_ROOT=f"{split}/data")
        sides[side] = json.loads(out.read_text())
        hold([log["log"] for log in sides[side]] == names, f"{side}: logs {[log['log'] for log in sides[side]]}")
    apart_m, shared = 0.0, 0
    for car, drone in zip(*sides.values(), strict=True):
        for one, other in zip(car["frames"], drone["frames"], strict=True):
            hold(one["tenths"] == other["tenths"], "frames of both sides differ in time")
            for token in one["boxes"].keys() & other["boxes"].keys():
                apart_m = max(apart_m, float(np.abs(np.subtract(one["boxes"][token], other["boxes"][token])).max()))
                shared += 1
    logs = [
        (release / folder, log)
        for folder, of in zip(("vehicle-side", "drone-side"), sides.values(), strict=True)
        for log in of
    ]
    beside = [found for folder, log in logs for found in beside_boxes(folder, log)]
    objects = [log["map_objects"] for _, log in logs]
    hold(shared > 0 and apart_m < MOST_M, f"sides meet within {apart_m} m")
    hold(len(beside) > 100 and max(beside) <= MOST_PX, f"a mask is {max(beside)} px beside its box")
    hold(min(objects) > 0, "a map does not resolve")
    return (
        f"{shared} boxes of both sides within {apart_m:.1e} m; {len(beside)} masks, at most {max(beside):.2f} px outside of "
        f"their boxes; maps of {min(objects)} objects and more"
    )


def beside_boxes(folder: Path, log: JsonDict) -> Iterator[float]:
    """Yield how far each object's mask is beside its box as py123d's camera sees it."""
    for frame in log["frames"]:
        for name, camera in frame["cameras"].items():
            ids, _ = codec.mask_ids_and_tags(folder / f"camera/instance_{name}/{round(frame['tenths']):06d}.png")
            hold([*ids.shape, 3] == camera["shape"], f"{name}: image of {camera['shape']}")
            for token, corners_px in camera["boxes_px"].items():
                rows, columns = np.nonzero(ids == int(token) % NUMBERS)
                if len(rows):
                    pixels = np.stack([columns, rows], axis=1)[::EVERY].astype(np.float64) + 0.5
                    yield beside_px(pixels, np.array(corners_px))


def griffin(checkout: str, root: Path, work: Path) -> str:
    """Make nuScenes of it by Griffin's own converter, which drops frames without a box near both, and load that."""
    release, out, split = exported(root, "griffin") / "griffin-release", work / "griffin-nuscenes", work / "none.json"
    shutil.rmtree(out, ignore_errors=True)
    split.write_text(json.dumps({"batch_split": {"train": [], "val": []}}))
    tool = Path(checkout).resolve() / "tools/griffin_data_converter/trans_kitti2nuscenes.py"
    words = ("--source_dir", release, "--target_dir", out, "--split_file", split)
    run(judge_python(), "-W", "ignore", tool, *words)
    infos = json.loads((release / "vehicle-side/scene_infos.json").read_text())
    frames = [frame for info in infos for frame in info["info"]["frames"]]
    samples = [centres_m(sample) for scene in uavsim.open(root).scenes() for sample in scene.samples]
    ours, counts, farthest_m, kept = dict(zip(frames, samples, strict=True)), list[str](), 0.0, 0
    for side in ("cooperative", "drone-side", "vehicle-side"):
        got = json.loads(run(judge_python(), "-W", "ignore", "-c", LOADED, out / side))
        kept, frame_of = len(got["samples"]), {token: Path(file).stem for token, file, _ in got["samples"]}
        for token, ident, place, _ in got["boxes"]:
            off_m = np.abs(np.subtract(place, ours[frame_of[token]][int(ident) % NUMBERS])).max()
            farthest_m = max(farthest_m, float(off_m))
        scene_of = {token: scene for token, _, scene in got["samples"]}
        lives = {(instance, scene_of[token]) for token, _, _, instance in got["boxes"]}
        hold(len(lives) == len({instance for instance, _ in lives}), f"{side}: an instance in two scenes")
        counts.append(f"{len(got['boxes'])} {side}")
    hold(kept > 0 and farthest_m < MOST_M, f"boxes of {kept} samples are {farthest_m} m off")
    return f"the devkit loads {kept} of {len(ours)} samples; boxes {', '.join(counts)} within {farthest_m:.1e} m"


def opencood(checkout: str, root: Path, _: Path) -> str:
    """Read it with OpenCOOD's BaseDataset: each agent's boxes in its own frame."""
    got, off_m = read("read_opv2v.py", checkout, exported(root, "opv2v")), list[float]()
    samples = uavsim.open(root).scenes().__next__().samples
    hold(len(got) == len(samples), f"{len(got)} of {len(samples)} samples")
    for agents, sample in zip(got, samples, strict=True):
        hold(set(agents) == {"0", "1", "2", "1000", "1001", "-1"}, f"agents {list(agents)}")
        hold([name for name, found in agents.items() if found["ego"]] == ["0"], "drone 0 is not the ego")
        for name, found in agents.items():
            flu_m = in_frame(sample, {"1000": "v0", "1001": "v1", "-1": "r0"}.get(name, name))
            hold(len(found["boxes"]) >= len(flu_m) - 1, f"{name} has {len(found['boxes'])} of {len(flu_m)} boxes")
            hold(len(found["points"]) > 1000, f"{name} has {len(found['points'])} points")
            off_m += off(found["boxes"], flu_m)
    hold(max(off_m, default=np.inf) < MOST_M, f"{len(off_m)} boxes are {max(off_m, default=0.0)} m off")
    return f"3 drones, 2 cars and pole -1; {len(off_m)} boxes in their own frames within {max(off_m):.1e} m"


def airv2x(checkout: str, root: Path, _: Path) -> str:
    """Read it with AirV2X's BaseDataset, each kind of agent the ego in turn."""
    folder, off_m = exported(root, "airv2x"), list[float]()
    samples = uavsim.open(root).scenes().__next__().samples
    for kind, own in (("vehicle", "v0"), ("rsu", "r0"), ("drone", "0")):
        got = read("read_airv2x.py", checkout, folder, kind)
        hold(len(got) == len(samples), f"{len(got)} of {len(samples)} samples")
        for agents, sample in zip(got, samples, strict=True):
            hold(set(agents) == {"0", "1", "2", "1000", "1001", "2000"}, f"agents {list(agents)}")
            flu_m = in_frame(sample, own, from_lidar=True)
            for found in agents.values():
                off_m += off(found["boxes"], flu_m)
    hold(max(off_m, default=np.inf) < MOST_M, f"{len(off_m)} boxes are {max(off_m, default=0.0)} m off")
    return f"a vehicle, a pole and a drone as ego; {len(off_m)} boxes in its frame within {max(off_m):.1e} m"


def devkit(_: str, root: Path, __: Path) -> str:
    """Let the devkit load, draw and score the truth of the car's view."""
    view = exported(root, "agents") / "vehicle_0"
    checks = run_judge("devkit_check", str(view), "v1.0-trainval")["checks"]
    wrong = {name: check for name, check in checks.items() if not check["ok"]}
    hold(not wrong, json.dumps(wrong)[:600])
    detection, tracking = checks["detection"], checks["tracking"]
    return f"detection {json.dumps(figures(detection))}, tracking {json.dumps(figures(tracking))}"


def mmdet3d(checkout: str, root: Path, work: Path) -> str:
    """Make infos of the car's view by MMDetection3D's converter, and read them with its dataset class."""
    view, out = exported(root, "agents") / "vehicle_0", work / "mmdet3d"
    shutil.rmtree(out, ignore_errors=True)
    read("convert_mmdet3d.py", Path(checkout).resolve(), view, "v1.0-trainval", out)
    samples, farthest_m, count = list(uavsim.open(view).samples()), 0.0, 0
    infos = [info for file in sorted(out.glob("*.pkl")) for info in read("read_mmdet3d.py", view, file)]
    of_token = {info["token"]: info for info in infos}
    hold(set(of_token) == {sample.token for sample in samples}, f"{len(of_token)} of {len(samples)} samples")
    for sample in samples:
        info, boxes = of_token[sample.token], sample.boxes
        hit = boxes.map_SE3_box.translation_m[boxes.lidar_points > 0]
        top = next(scan for scan in sample.lidars if scan.channel == "LIDAR_TOP").map_SE3_sensor
        hold(len(info["centres"]) == len(hit), f"{len(info['centres'])} of {len(hit)} boxes")
        hold(len(info["images"]) == 6, f"{len(info['images'])} cameras")
        if len(hit):
            farthest_m = max(farthest_m, float(np.abs(np.subtract(info["centres"], top.apply_inverse(hit))).max()))
        count += len(hit)
    hold(count > 0 and farthest_m < MOST_M, f"{count} boxes are {farthest_m} m off")
    return f"{len(infos)} infos with six cameras; {count} boxes within {farthest_m:.1e} m"


def off(boxes: JsonDict, centres_m: dict[int, FloatArray]) -> list[float]:
    """Return how far each box that was read is from where it should be, metres along the worst axis."""
    return [float(np.abs(np.subtract(box[:3], centres_m[int(ident)])).max()) for ident, box in boxes.items()]


def in_frame(sample: Sample, agent: str, *, from_lidar: bool = False) -> dict[int, FloatArray]:
    """Return where a sample's objects are in an agent's frame or from its lidar, if it has one; y to the right."""
    body = next(image for image in sample.images if image.channel.endswith(f"_id_{agent}")).map_SE3_flu
    above = [scan for scan in sample.lidars if scan.channel.endswith(f"_id_{agent}")] if from_lidar else []
    shift_m = body.apply_inverse(above[0].map_SE3_sensor.translation_m) if above else np.zeros(3)
    return {ident: (body.apply_inverse(at) - shift_m) * [1.0, -1.0, 1.0] for ident, at in centres_m(sample).items()}


def figures(check: JsonDict) -> JsonDict:
    """Return a check's numbers."""
    return {key: value for key, value in check.items() if isinstance(value, (int, float)) and key != "ok"}


def scene_names(release: Path) -> list[str]:
    """Return the scenes as Griffin's split files call them."""
    infos = json.loads((release / "vehicle-side/scene_infos.json").read_text())
    return [f"scene-{number:04d}-{info['name']}" for number, info in enumerate(infos)]


def hold(true: bool, otherwise: str) -> None:
    """Stop a reader's part where something does not hold.

    Raises:
        RuntimeError: it does not.
    """
    if not true:
        raise RuntimeError(otherwise)


READING: Final = {  # reader -> dataset, function
    "py123d": ("griffin", py123d),
    "griffin": ("griffin", griffin),
    "opencood": ("airv2x", opencood),
    "airv2x": ("airv2x", airv2x),
    "devkit": ("car", devkit),
    "mmdet3d": ("car", mmdet3d),
}


def main() -> int:
    """Fly what is needed, have it read, and print a line for each reader."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    for name in READING.keys() - {"devkit"}:
        parser.add_argument(f"--{name}", default="")
    options = parser.parse_args()
    work, failed = (options.folder or Path(tempfile.mkdtemp(prefix="uavsim-readers-"))).resolve(), 0
    work.mkdir(parents=True, exist_ok=True)
    asked = {name: one for name, one in READING.items() if name == "devkit" or getattr(options, name)}
    roots = {dataset: flown(work, dataset) for dataset in dict.fromkeys(dataset for dataset, _ in asked.values())}
    for name, (dataset, reading) in READING.items():
        if name not in asked:
            print(f"{name:9} not named")
            continue
        try:
            print(f"{name:9} {reading(getattr(options, name, ''), roots[dataset], work)}", flush=True)
        except RuntimeError as error:  # a reader's fault hides no other's
            failed += 1
            print(f"{name:9} FAILED {error}", flush=True)
    return 4 if failed else 0
