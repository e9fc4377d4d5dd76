"""Paths of a dataset under construction, and checks of the names in them.

``OUT/.uavsim/`` has the state that resumes a run; everything else in ``OUT`` is the dataset.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from uavsim.errors import InputError
from uavsim.records.ingredients import folders_made
from uavsim.records.modalities import layer_folders

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_STAGED = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]{0,99})~[0-9a-f]{16}")
STAGED_MARK = ".uavsim-staged"


def file_roots() -> tuple[str, ...]:
    """Return the folders of the dataset with files of scenes."""
    return ("samples", "sweeps", *layer_folders(), "degraded", "lidarseg", *folders_made())


def check_name(name: str, *, what: str) -> str:
    """Return ``name`` if it is a valid part of a file name, so that no path leaves the output folder.

    Raises:
        InputError: the name has separators, leading dots, blanks or other invalid characters.
    """
    if not _NAME.fullmatch(name) or ".." in name:
        raise InputError(f"{what} {name!r} cannot be a file name: use letters, digits, _ . and - only")
    return name


def scene_of_file(name: str) -> str | None:
    """Return the scene of ``<scene>__<CHANNEL>__<timestamp>.<ext>``, or None for any other file."""
    scene, mark, _ = name.partition("__")
    return scene if mark and scene else None


def staging_name(scene: str) -> str:
    """Return a new name for the staging folder of one attempt at a scene."""
    return f"{check_name(scene, what='scene')}~{os.urandom(8).hex()}"


def scene_of_staging(name: str) -> str | None:
    """Return the scene of a staging folder; None for a name that ``staging_name`` does not make."""
    found = _STAGED.fullmatch(name)
    return found[1] if found else None


@dataclass(frozen=True, slots=True)
class OutLayout:
    """Paths below one output folder on a local or shared disk."""

    root: Path

    @property
    def logs(self) -> Path:
        """Folder of the scenes' logs, and of the output of simulators and client processes."""
        return self.root / ".uavsim/logs"

    def scene_log(self, scene: str) -> Path:
        """Return the path of a scene's log, JSON lines."""
        return self.logs / f"{check_name(scene, what='scene')}.jsonl"
