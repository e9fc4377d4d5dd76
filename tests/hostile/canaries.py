"""A tree of files of somebody else, beside and inside a dataset: planted before, compared after."""

import hashlib
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
    """Put files of others into the dataset ``root`` and into the folder ``beside`` it."""
    for folder, names in ((root, _INSIDE), (beside, _BESIDE)):
        for name in names:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(f"of somebody else: {name}".encode())
    os.link(beside / "data.txt", root / "hard_link.txt")
    (root / "link_out").symlink_to(beside)
    (root / "samples" / "notes" / "link__out__1.png").symlink_to(beside / "data.txt")
    os.mkfifo(root / "pipe")


def fingerprints(root: Path, beside: Path) -> dict[str, str]:
    """Return what is planted: name -> kind, mode and content."""
    found = {}
    paths = [root / name for name in (*_INSIDE, "hard_link.txt", "link_out", "samples/notes/link__out__1.png", "pipe")]
    for path in (*paths, *sorted(beside.rglob("*"))):
        if not os.path.lexists(path):
            found[str(path)] = "gone"
            continue
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            what = str(path.readlink())
        else:
            what = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(mode) else ""
        found[str(path)] = f"{mode:o} {what}"
    return found


def changed(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Name what is not as it was."""
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
