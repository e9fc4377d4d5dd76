"""Let UAV3D's own, unmodified code judge a dataset of either dialect, or three made-up ones.

    scripts/trial judge-uav3d CHECKOUT [DATASET [VERSION]] [--images FOLDER]

CHECKOUT is a folder of https://github.com/huiyegit/UAV3D. A strict dataset is converted first. Without DATASET, a made-up one
of each version is judged: every info file must be written, and the truth must score a car AP of 1. Prints JSON; ends with 4
where a check fails.
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tools.common import ROOT
from tools.common.factories import make_recording
from uavsim.annotate import annotate, write_label_files
from uavsim.dataset import assemble, final_paths, pack_fragment, scene_fragment
from uavsim.dataset.convert import convert
from uavsim.dataset.dialects import dialect_of
from uavsim.dataset.dialects.uav3d.infos import write_uav3d_infos
from uavsim.dataset.reader import open_dataset
from uavsim.errors import UavsimError
from uavsim.typing import JsonDict
from uavsim.validate.devkit_process import run_judge

REFERENCE: Final = ROOT / "packages/benchmarks/reference"
MADE_UP: Final = {  # version -> scenes, their converter, its info files
    "v1.0-mini": ({"scene_00": (0, "uav_train"), "scene_01": (1, "uav_val")}, "uav_converter_mini", ("train", "val")),
    "v1.0-trainval": (
        {"scene_0000": (0, "uav_train"), "scene_0001": (1, "uav_val")},
        "uav_converter",
        ("train", "val"),
    ),
    "v1.0-test": ({"scene_0011": (11, "uav_test")}, "uav_converter", ("test",)),
}


def judged(checkout: Path, root: Path, version: str, work: Path, *arguments: str) -> JsonDict:
    """Return ``{"ok": bool, "checks": {"converters", "projections", "detection"}}``; ``work`` is an empty folder."""
    data = work / "uav3d"
    if dialect_of(open_dataset(root, version)).name == "uav3d":
        data.symlink_to(root.resolve(), target_is_directory=True)
    else:
        convert(root, data, dialect="uav3d")
    write_uav3d_infos(data, work / "infos", version=version)
    words = (str(checkout.resolve()), str(data), version, "--infos", str(work / "infos"), *arguments)
    return run_judge("uav3d_check", *words, folder=REFERENCE)


def write_made_up(root: Path, work: Path, version: str, scenes: dict[str, tuple[int, str]]) -> Path:
    """Write a dataset of three samples a scene."""
    fragments = []
    for name, (index, split) in scenes.items():
        recording = make_recording(
            work / name, scene=name, scene_index=index, splits=(split,), version=version, samples=3, sweeps=0,
            size_px=(192, 108),
        )  # fmt: skip
        fragments.append(pack_fragment(scene_fragment(annotate(recording))))
        for source, target in (final_paths(recording) | write_label_files(recording)).items():
            (root / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(work / name / source, root / target)
    assemble(root, fragments)
    return root


def made_up_problems(checkout: Path, version: str, work: Path) -> Iterator[str]:
    """Yield what is wrong with UAV3D's code on a made-up dataset of a version."""
    scenes, converter, infos = MADE_UP[version]
    (work / "judged").mkdir(parents=True)
    root = write_made_up(work / "strict", work / "recordings", version, scenes)
    checks = judged(checkout, root, version, work / "judged")["checks"]
    yield from (f"{version} {name}: {check.get('problems')}" for name, check in checks.items() if not check["ok"])
    wanted = [f"uav3d_infos_{split}.pkl" for split in infos]
    if sorted(checks["converters"]["infos"][converter]) != wanted:
        yield f"{version}: {converter} made {checks['converters']['infos'][converter]}, not {wanted}"
    if checks["projections"]["box_views"] <= 30:
        yield f"{version}: only {checks['projections']['box_views']} views of boxes were compared"
    aps = {round(row["car_ap"], 9) for row in checks["detection"].values() if isinstance(row, dict)}
    if aps != {1.0}:
        yield f"{version}: car AP of the truth is {sorted(aps)}"


def main() -> int:
    """Print the report, or what is wrong with the checkout or the dataset."""
    try:
        return _report()
    except UavsimError as error:
        sys.exit(f"error: {error}")


def _report() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("dataset", type=Path, nargs="?")
    parser.add_argument("version", nargs="?", default="v1.0-mini")
    parser.add_argument("--images", type=Path, help="keep UAV3D's drawings of DATASET here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        if options.dataset:
            more = ("--images", str(options.images.resolve())) if options.images else ()
            report = judged(options.checkout, options.dataset, options.version, work, *more)
        else:
            problems = [p for version in MADE_UP for p in made_up_problems(options.checkout, version, work / version)]
            report = {"ok": not problems, "problems": problems}
    sys.stdout.write(json.dumps(report, indent=1) + "\n")
    return 0 if report["ok"] else 4
