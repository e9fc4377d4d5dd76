"""Give voxels to programs that read such files: Occ3D's metric, UniOcc's loader, evaluator and viewer, OccuFly's viewer.

``scripts/trial occupancy-readers DATASET --checkouts FOLDER --python PYTHON --images FOLDER``

DATASET is flown 30, 40 or 50 m high, which alone OccuFly's viewer knows, with at least four samples in its first scene:
``uavsim generate --dataset smoke --town Town10HD --scenes 0 --formation coperception --rig uav3d_depth --out DATASET``.
``--checkouts`` holds CVPR2023-3D-Occupancy-Prediction as ``occ3d``, tasl-lab/UniOcc as ``uniocc``, markus-42/OccuFly as
``occufly``. ``--python`` has torch, open3d, opencv, shapely, scikit-learn, matplotlib with Tk, termcolor and tqdm. Debian's
xvfb, xdotool and imagemagick show the viewers' windows on a screen of the trial's own, and leave images of it in ``--images``
to be looked at. The trial ends with 1 where a score of the truth is not 100, or a window stays empty.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self

import numpy as np

from tools.common.program import run_uavsim
from uavsim.images.codec import decode_rgb
from uavsim.typing import IntArray

__all__ = ["Screen"]

_OCC3D: Final = """
import pathlib, sys
import numpy as np
from occ_metrics import Metric_mIoU
metric = Metric_mIoU(num_classes=18, use_image_mask=True)
for path in sorted(pathlib.Path(sys.argv[1]).rglob("labels.npz")):
    file = np.load(path)
    masks = [file[name].astype(bool) for name in ("mask_lidar", "mask_camera")]
    metric.add_batch(file["semantics"], file["semantics"], *masks)
metric.count_miou()
"""
_UNIOCC: Final = """
import sys
import numpy as np
from torch.utils.data import DataLoader
from uniocc_dataset import UniOcc
from uniocc_eval import *
data = UniOcc(sys.argv[1], obs_len=2, fut_len=2, datasource_root=sys.argv[2])
scores, still, tracks = [], [], []
for batch in DataLoader(data, batch_size=1, collate_fn=UniOcc.collate_fn):
    occ = np.concatenate([batch[key].numpy()[0] for key in ("obs_occ_labels", "fut_occ_labels")])
    flow = np.concatenate([batch[key].numpy()[0] for key in ("obs_flows_forward", "fut_flows_forward")])
    pose = np.concatenate([batch[key].numpy()[0] for key in ("obs_ego_to_worlds", "fut_ego_to_worlds")])
    for one in occ:
        scores += [ComputeIoU(one, one), *(ComputeIoUForCategory(one, one, category_id=n) for n in range(10))]
    still += ComputeStaticConsistency(occ == 7, pose)
    tracks += [len(track) for track in TrackOccObjects(occ == 1, flow, pose)[0].values()]
print("items", len(data), "occupancy", occ.shape, "flow", flow.shape, "images", tuple(batch["obs_cameras_image"].shape[1:]))
print("roads' consistency", round(float(np.mean(still)), 4), "cars tracked", len(tracks), "in all frames", tracks.count(4))
print("IoU of the truth", 100 * min(scores))
"""
_BUTTONS: Final = {"surface": 0.595, "occluded": 0.815, "occupancy": 0.155}
"""Of OccuFly's viewer: where each is across its window of images. ``occupancy`` shows what is unknown, too, in white."""
_MOST_OF_NOTHING: Final = 20
_MOST_OF_NO_VOXELS: Final = 4


class Screen:
    """A screen of one's own, and what programs show there."""

    def __init__(self, display: str, images: Path) -> None:
        """Name a display, and a folder for images of it."""
        self._environment, self._images = os.environ | {"DISPLAY": f":{display}", "MPLBACKEND": "TkAgg"}, images

    @classmethod
    @contextmanager
    def shown(cls, images: Path) -> Iterator[Self]:
        """Give a screen until the block ends."""
        command = ("Xvfb", "-displayfd", "1", "-screen", "0", "1920x1080x24", "-nolisten", "tcp")
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout
            yield cls(server.stdout.readline().strip(), images)
            server.terminate()

    @contextmanager
    def program(self, *command: str | Path, cwd: Path | None = None) -> Iterator[None]:
        """Run a program until the block ends."""
        program = subprocess.Popen(command, cwd=cwd, env=self._environment, stdout=subprocess.DEVNULL)
        try:
            yield
        finally:
            program.kill()
            program.wait()

    def click(self, window: str, x: float, y: float) -> None:
        """Click into a window, at shares of its width and height."""
        sides = dict(
            re.findall(r"(WIDTH|HEIGHT)=(\d+)", self._asked("xdotool", "getwindowgeometry", "--shell", window))
        )
        at = (str(round(x * int(sides["WIDTH"]))), str(round(y * int(sides["HEIGHT"]))))
        self._asked("xdotool", "mousemove", "--window", window, *at, "click", "1")

    def window(self, name: str) -> str:
        """Return the number of the window with such a name, once there is one."""
        return self._asked("xdotool", "search", "--sync", "--onlyvisible", "--name", name).split()[-1]

    def shows(
        self, window: str, name: str, *, over: IntArray | None = None, within_s: float = 240.0
    ) -> IntArray | None:
        """Return what a window comes to show, (H, W) colours as numbers; keep an image of the whole screen.

        Args:
            window: its number.
            name: of the image.
            over: pixels of an older window, which it holds before it draws its own.
            within_s: how long it may take; then there is None.
        """
        end, last = time.monotonic() + within_s, None
        most = _MOST_OF_NOTHING if over is None else _MOST_OF_NO_VOXELS
        while time.monotonic() < end:
            time.sleep(2.0)
            pixels = self._pixels(window)
            still = last is not None and np.array_equal(pixels, last)
            last, colours = pixels, len(np.unique(pixels))
            if still and colours > most and (over is None or _alike(pixels, over) < 0.5):
                break
        else:
            last = None
        self._asked("import", "-window", "root", str(self._images / f"{name}.png"))
        print(f"{name}: {'nothing' if last is None else colours} colours in its window", flush=True)
        return last

    def _pixels(self, window: str) -> IntArray:
        shown = self._images / "window.png"
        self._asked("import", "-window", window, str(shown))
        found = decode_rgb(shown).astype(np.int64) @ np.array([65536, 256, 1])
        shown.unlink()
        return np.asarray(found)

    def _asked(self, *command: str) -> str:
        done = subprocess.run(command, env=self._environment, check=True, capture_output=True, text=True, timeout=240)
        return done.stdout


def _alike(one: IntArray, other: IntArray) -> float:
    """Return the share of two windows' common pixels that have one colour."""
    height, width = np.minimum(one.shape, other.shape)
    return float((one[:height, :width] == other[:height, :width]).mean())


def _said(python: Path, code: str, *words: str | Path, cwd: Path, last: str) -> bool:
    """Run a few lines in a checkout, print what they print, and return whether the last line ends so."""
    done = subprocess.run([python, "-c", code, *words], cwd=cwd, text=True, stdout=subprocess.PIPE, check=True)
    print(done.stdout, flush=True)
    return done.stdout.rstrip().endswith(last)


def _viewers(screen: Screen, python: Path, checkouts: Path, voxels: Path) -> dict[str, bool]:
    """Return by viewer and window whether it shows something."""
    good = {}
    (first, *_) = sorted((voxels / "uniocc").glob("*/0/1.npz"))
    with screen.program(python, "uniocc_viz.py", "--file_path", first, cwd=checkouts / "uniocc"):
        good["UniOcc's viewer"] = screen.shows(screen.window("Open3D"), "uniocc") is not None
    place = sorted((voxels / "occufly/OccuFly_Dataset").glob("*/*"))[0]
    words = ("--base_dir", voxels / "occufly", "--scene", place.parent.name, "--altitude", place.name)
    with screen.program(python, "src/visualize_gt.py", *words, "--frame", "000001", cwd=checkouts / "occufly"):
        controls = screen.window("Figure 1")
        before = screen.shows(controls, "occufly")
        good["OccuFly's viewer"] = before is not None
        for kind, x in _BUTTONS.items():
            screen.click(controls, x, 0.858)
            window, name = screen.window(rf"\({kind}\)"), f"occufly-{kind}"
            good[f"OccuFly's window of {kind}"] = screen.shows(window, name, over=before) is not None
    return good


def main() -> None:
    """Label the dataset and hand the files over."""
    parser = argparse.ArgumentParser(prog="scripts/trial occupancy-readers")
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--checkouts", type=Path, required=True, help="folder with occ3d, uniocc and occufly")
    parser.add_argument("--python", type=Path, required=True, help="of an environment with what they import")
    parser.add_argument("--images", type=Path, required=True, help="folder for voxels and images of windows")
    options = parser.parse_args()
    data, images, checkouts = options.dataset.resolve(), options.images.resolve(), options.checkouts.resolve()
    python, kept = options.python.absolute(), str(images / "scans")
    images.mkdir(parents=True, exist_ok=True)
    for name, of in (("occ3d", "0"), ("uniocc", "0"), ("occufly", "CAMERA_FRONT_id_0")):
        words = ("--format", name, "--of", of, "--kept", kept, "--out", str(images / name))
        print(name, run_uavsim("occupancy", str(data), *words, cwd=images).printed, flush=True)
    metric = checkouts / "occ3d/projects/mmdet3d_plugin/datasets"
    good = {
        "Occ3D's metric": _said(python, _OCC3D, images / "occ3d", cwd=metric, last=": 100.0"),
        "UniOcc's evaluator": _said(python, _UNIOCC, images / "uniocc", data, cwd=checkouts / "uniocc", last=" 100.0"),
    }
    with Screen.shown(images) as screen:
        good |= _viewers(screen, python, checkouts, images)
    for name, held in good.items():
        print(f"{name}: {'good' if held else 'WRONG'}")
    sys.exit(0 if all(good.values()) else 1)
