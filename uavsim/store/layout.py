"""Places of everything of a dataset under construction; names that reach paths are checked here.

``OUT/.uavsim/`` holds what makes a run resumable; everything else of ``OUT`` is the dataset itself.
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
    """Return the dataset's folders that hold files of scenes."""
    return ("samples", "sweeps", *layer_folders(), "degraded", "lidarseg", *folders_made())


def check_name(name: str, *, what: str) -> str:
    """Return ``name`` if it may become part of a file name, so that nothing leaves the output folder.

    Raises:
        InputError: separators, leading dots, blanks or anything else that is no plain name.
    """
    if not _NAME.fullmatch(name) or ".." in name:
        raise InputError(f"{what} {name!r} cannot be a file name: use letters, digits, _ . and - only")
    return name


def scene_of_file(name: str) -> str | None:
    """Return the scene of ``<scene>__<CHANNEL>__<timestamp>.<ext>``, or None for a foreign file."""
    scene, mark, _ = name.partition("__")
    return scene if mark and scene else None


def staging_name(scene: str) -> str:
    """Name the staging folder of one attempt at a scene; attempts never share one."""
    return f"{check_name(scene, what='scene')}~{os.urandom(8).hex()}"


def scene_of_staging(name: str) -> str | None:
    """Return the scene of a staging folder; None for a name that we never give."""
    found = _STAGED.fullmatch(name)
    return found[1] if found else None


@dataclass(frozen=True, slots=True)
class OutLayout:
    """Paths below one output folder on a local or shared disk."""

    root: Path

    @property
    def meta(self) -> Path:
        """The folder with everything that is not the dataset itself."""
        return self.root / ".uavsim"

    @property
    def ledger(self) -> Path:
        """One file per scene: the truth about what is done."""
        return self.meta / "ledger"

    @property
    def staging(self) -> Path:
        """Scenes in flight; never part of the dataset."""
        return self.meta / "staging"

    @property
    def logs(self) -> Path:
        """JSON lines per scene, and what simulators and client processes printed."""
        return self.meta / "logs"

    def scene_log(self, scene: str) -> Path:
        """The scene's log, JSON lines."""
        return self.logs / f"{check_name(scene, what='scene')}.jsonl"
