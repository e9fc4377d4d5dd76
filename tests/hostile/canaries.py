"""Foreign files beside and inside a dataset: planted before a command and compared after it."""

import os
import stat
from pathlib import Path

_INSIDE = (
    "thesis.tex",
    "samples/CAMERA_FRONT_id_0/n015-2018__CAM_FRONT__1533151603512404.jpg",
    "samples/CAMERA_FRONT_id_0/scene_00__mine__1.png",
    "samples/notes/scene_01__notes__1.txt",
    "sweeps/CAM_BACK/scene_00__CAM_BACK__7.png",
    "masks/mine__too__1.png",
    "depth/x__y__2.png",
    "lidar/x__y__3.ply",
    "degraded/scene_02__z__4.png",
    "maps/my_town.png",
    "v1.0-mini/predictions.json",
    "v1.0-mini/results/run 1/metrics.json",
    ".uavsim/notes.txt",
    ".uavsim/staging/readme.txt",
    ".uavsim/staging/scene_00~0123456789abcdef/precious.txt",
    ".uavsim/staging/tables~0123456789abcdef/v1.0-mini/precious.txt",
    ".uavsim/fragments/scene_99.msgpack",
    ".uavsim/recordings/scene_98/log.msgpack",
    ".uavsim/quarantine/scene_00/my_analysis.ipynb",
    ".uavsim/logs/mine.log",
    "odd names/-rf",
    "odd names/a\nb__c__1.png",
    "odd names/\x1b[31mred",
)
_BESIDE = (
    "data.txt",
    "nuscenes/sweeps/CAM_FRONT/n015__CAM_FRONT__1.jpg",
    "samples/x__y__1.png",
    ".uavsim/dataset.json",
)


def plant(root: Path, beside: Path) -> None:
    """Write foreign files into the dataset ``root`` and into the folder ``beside`` it."""
    for path in (*(root / name for name in _INSIDE), *(beside / name for name in _BESIDE)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(f"foreign: {path.name}".encode())
    os.link(beside / "data.txt", root / "hard_link.txt")
    (root / "link_out").symlink_to(beside)
    (root / "samples/notes/link__out__1.png").symlink_to(beside / "data.txt")
    os.mkfifo(root / "pipe")


def fingerprints(root: Path, beside: Path) -> set[str]:
    """Return the name, mode and content of each planted file that exists."""
    names = (*_INSIDE, "hard_link.txt", "link_out", "samples/notes/link__out__1.png", "pipe")
    found = set()
    for path in (*(root / name for name in names), *beside.rglob("*")):
        if os.path.lexists(path):
            mode = path.lstat().st_mode
            content = path.readlink() if stat.S_ISLNK(mode) else path.read_bytes() if stat.S_ISREG(mode) else ""
            found.add(f"{path} {mode:o} {content!r}")
    return found
