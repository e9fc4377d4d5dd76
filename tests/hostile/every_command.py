"""Commands that read a dataset and write something, as words with SET and OUT to fill in."""

from pathlib import Path
from typing import Final

__all__ = ["WRITING", "filled"]

KINDS: Final = ("agents", "coco", "mcap", "mmdet3d", "nerfstudio", "opv2v", "rosbag2")
WRITING: Final = {
    **{kind: f"export SET OUT --format {kind}" for kind in KINDS},
    "convert": "convert SET OUT --dialect uav3d",
    "publish": "publish SET --out OUT",
    "events": "events SET --out OUT --workers 1",
    "collaboration": "collaboration SET --out OUT",
    "report": "report SET --out OUT/report.html",
    "view": "view SET --save OUT/view.rrd",
    "video": "video SET --out OUT/video.mp4",
}


def filled(words: str, root: Path, out: Path) -> list[str]:
    """Return the words of a command line."""
    return [word.replace("SET", str(root)).replace("OUT", str(out)) for word in words.split()]
