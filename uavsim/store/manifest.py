"""Manifests: the files of a scene's commit, written before the first file moves, which prove the origin of files.

``.uavsim/manifests/<scene>~<generation>.json`` maps each key to the size and time of its file. Interrupted and replaced scenes
are removed by their manifest, file by file, except files that changed.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from uavsim.errors import StorageError
from uavsim.files.names import GENERATION_MARK, name_fault
from uavsim.files.own_folder import FileMark, mark_of
from uavsim.files.parse import parse_json
from uavsim.files.whole import to_json_bytes
from uavsim.store.layout import check_name, file_roots, scene_of_file
from uavsim.store.output import Output

MANIFESTS: Final = ".uavsim/manifests"
_NAME: Final = re.compile(rf"([A-Za-z0-9][A-Za-z0-9_.-]*){GENERATION_MARK}(\d{{1,6}})\.json")


@dataclass(frozen=True, slots=True, order=True)
class Generation:
    """One flight of a scene with its own file names; the first is number 0."""

    scene: str
    number: int

    @property
    def _stem(self) -> str:
        return check_name(self.scene, what="scene") + (f"{GENERATION_MARK}{self.number}" if self.number else "")

    @property
    def manifest(self) -> str:
        """Key of the manifest."""
        return f"{MANIFESTS}/{check_name(self.scene, what='scene')}{GENERATION_MARK}{self.number}.json"

    @property
    def fragment(self) -> str:
        """Key of the table rows."""
        return f".uavsim/fragments/{self._stem}.msgpack"

    @property
    def recording(self) -> str:
        """Folder of the recording without its images."""
        return f".uavsim/recordings/{self._stem}"


def write_manifest(output: Output, generation: Generation, *, folder: Path, moves: Mapping[str, str]) -> None:
    """Write the manifest of the files in ``moves``: name in ``folder`` -> key."""
    marks = {key: mark_of(folder / source) for source, key in moves.items()}
    reported = {key: [mark.size_bytes, mark.mtime_ns] for key, mark in sorted(marks.items())}
    output.replace(generation.manifest, to_json_bytes({"files": reported}))


def read_manifest(output: Output, generation: Generation) -> dict[str, FileMark] | None:
    """Return key -> mark of a generation's files; None without a manifest.

    Raises:
        StorageError: the manifest is damaged, or names a file that cannot belong to the scene.
    """
    data = output.read(generation.manifest)
    if data is None:
        return None
    try:
        files = parse_json(data)["files"]
        marks = {str(key): FileMark(int(size), int(mtime)) for key, (size, mtime) in files.items()}
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise StorageError(
            f"{output.address}/{generation.manifest} is damaged ({type(error).__name__}: {error}): it lists the files of "
            f"scene {generation.scene}; restore it from a copy, or choose another --out"
        ) from error
    unexpected = [key for key in marks if not _may_be_of(key, generation)]
    if unexpected:
        raise StorageError(
            f"{output.address}/{generation.manifest} lists {unexpected[0]!a}, not a file of scene {generation.scene}; "
            "restore it from a copy, or choose another --out"
        )
    return marks


def known_generations(output: Output) -> list[Generation]:
    """Return the generations with a manifest, sorted."""
    names = (_NAME.fullmatch(key.rpartition("/")[2]) for key in output.keys(MANIFESTS))
    return sorted(Generation(name[1], int(name[2])) for name in names if name)


def drop_generation(output: Output, generation: Generation, *, any_time: bool = False) -> list[str]:
    """Remove a generation's files, the manifest last; returns the keys. The caller holds the scene's lock.

    Args:
        output: the dataset.
        generation: generation to remove.
        any_time: compare only the sizes of files with the manifest, not their times.
    """
    marks = read_manifest(output, generation)
    if marks is None:
        return []
    if any_time:
        marks = {key: replace(mark, mtime_ns=None) for key, mark in marks.items()}
    removed = output.remove(marks)
    removed += output.remove({generation.fragment: None, f"{generation.recording}/log.msgpack": None})
    return removed + output.remove({generation.manifest: None})


def _may_be_of(key: str, generation: Generation) -> bool:
    if name_fault(key):
        return False
    root, _, rest = key.partition("/")
    if root in file_roots():
        return scene_of_file(key.rpartition("/")[2]) == generation.scene
    return key == generation.fragment or (root == ".uavsim" and rest.startswith(generation.recording[8:] + "/"))
