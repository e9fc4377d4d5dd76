"""Prepare a dataset for UAV3D's own code: the uav3d dialect in ``work/uav3d``, our info files in ``work/infos``."""

from __future__ import annotations

import sys
from pathlib import Path

from uavsim.dataset.convert import convert
from uavsim.dataset.dialects import dialect_of
from uavsim.dataset.reader import open_dataset
from uavsim.errors import UavsimError
from uavsim.evaluate.judge_process import run_judge
from uavsim.export.uav3d_infos import write_uav3d_infos
from uavsim.typing import JsonDict

__all__ = ["prepare", "uav3d_report"]


def prepare(root: Path, version: str, work: Path) -> Path:
    """Return the dataset in the uav3d dialect, converting it if need be, and write our info files beside it.

    Raises:
        DatasetError: no dataset there, or damaged.
    """
    judged = work / "uav3d"
    if dialect_of(open_dataset(root, version)).name == "uav3d":
        judged.symlink_to(root.resolve(), target_is_directory=True)
    else:
        convert(root, judged, dialect="uav3d")
    write_uav3d_infos(judged, work / "infos", version=version)
    return judged


def uav3d_report(folder: Path, root: Path, version: str, work: Path, *arguments: str) -> JsonDict:
    """Let UAV3D's code in ``folder`` judge a dataset of either dialect; ``work`` is an empty folder.

    Returns:
        ``{"ok": bool, "checks": {"converters", "projections", "detection"}}``.
    """
    judged = prepare(root, version, work)
    infos = str((work / "infos").resolve())
    return run_judge("uav3d_check", str(folder.resolve()), str(judged.resolve()), version, "--infos", infos, *arguments)


if __name__ == "__main__":
    try:
        prepare(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
    except UavsimError as error:
        sys.exit(f"error: {error}")
