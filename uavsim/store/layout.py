"""Where everything of a data set under construction lies; names that reach paths are checked here.

``OUT/.uavsim/`` holds what makes a run resumable; everything else of ``OUT`` is the data set itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from uavsim.errors import InputError
from uavsim.records.modalities import layer_folders

__all__ = ["OutLayout", "check_name", "file_roots", "scene_of_file", "scene_of_staging", "staging_name"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


def file_roots() -> tuple[str, ...]:
    """Return the data set's folders that hold files of scenes."""
    return ("samples", "sweeps", *layer_folders(), "degraded", "lidarseg")


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


def staging_name(scene: str, *, attempt: str) -> str:
    """Name the staging folder of one attempt at a scene; attempts never share one."""
    return f"{check_name(scene, what='scene')}~{attempt}"


def scene_of_staging(name: str) -> str:
    """Return the scene of a staging folder."""
    return name.partition("~")[0]


@dataclass(frozen=True, slots=True)
class OutLayout:
    """Paths below one output folder on a local or shared disk."""

    root: Path

    @property
    def meta(self) -> Path:
        """The folder with everything that is not the data set itself."""
        return self.root / ".uavsim"

    @property
    def ledger(self) -> Path:
        """One file per scene: the truth about what is done."""
        return self.meta / "ledger"

    @property
    def staging(self) -> Path:
        """Scenes in flight; never part of the data set."""
        return self.meta / "staging"

    @property
    def locks(self) -> Path:
        """The file whose bytes are the scenes' locks."""
        return self.meta / "locks"

    @property
    def logs(self) -> Path:
        """JSON lines per scene, and what simulators and client processes printed."""
        return self.meta / "logs"

    @property
    def quarantine(self) -> Path:
        """Evidence of scenes that failed too often."""
        return self.meta / "quarantine"

    def fragment(self, scene: str) -> Path:
        """The scene's table rows."""
        return self.meta / "fragments" / f"{check_name(scene, what='scene')}.msgpack"

    def recording(self, scene: str) -> Path:
        """The scene's recording without its images."""
        return self.meta / "recordings" / check_name(scene, what="scene")

    def scene_log(self, scene: str) -> Path:
        """The scene's log, JSON lines."""
        return self.logs / f"{check_name(scene, what='scene')}.jsonl"

    def inside(self, relative: str) -> Path:
        """Return ``root / relative``; refuse anything that would leave the folder.

        Raises:
            InputError: absolute, or climbs out.
        """
        path = Path(relative)
        if path.is_absolute() or ".." in path.parts:
            raise InputError(f"path {relative!r} leaves the output folder")
        return self.root / path
