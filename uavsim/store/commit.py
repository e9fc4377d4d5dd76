"""A scene is committed whole or not at all, and what belongs to no committed scene is swept away."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from uavsim.errors import StorageError
from uavsim.store.atomic import storage_errors
from uavsim.store.layout import check_name, file_roots, scene_of_file
from uavsim.store.ledger import LedgerEntry, read_entry, read_ledger, write_entry
from uavsim.store.output import Output

__all__ = ["FRAGMENTS", "RECORDINGS", "commit_scene", "read_fragments", "retire_scene", "sweep_orphans"]

FRAGMENTS = ".uavsim/fragments"
RECORDINGS = ".uavsim/recordings"


def commit_scene(
    output: Output, entry: LedgerEntry, *, folder: Path, moves: Mapping[str, str], log: str, fragment: bytes
) -> LedgerEntry:
    """Move a flown and labelled scene into the data set.

    Images first, then the recording's log, then the table rows, and last the ledger entry, whose appearance is the
    commit. Killed before that, the scene was never there and ``sweep_orphans`` removes its files.

    Args:
        output: the data set.
        entry: the scene's entry; what is returned and written has state ``committed``.
        folder: the staging folder of the recording.
        moves: names in ``folder`` -> keys in the data set, for every image.
        log: name of the recording's log in ``folder``.
        fragment: the scene's packed table rows.

    Raises:
        StorageError: the place cannot be written; nothing of the scene counts.
    """
    scene = check_name(entry.scene, what="scene")
    strangers = [key for key in moves.values() if scene_of_file(Path(key).name) != scene]
    if strangers:
        raise StorageError(
            f"scene {scene} brings {strangers[0]}, which is not named after it; this is a bug, report it"
        )
    output.adopt(folder, moves={**moves, log: f"{RECORDINGS}/{scene}/{Path(log).name}"})
    output.replace(f"{FRAGMENTS}/{scene}.msgpack", fragment)
    committed = replace(entry, state="committed")
    write_entry(output, committed)
    with storage_errors(f"remove {folder}"):
        shutil.rmtree(folder)
    return committed


def retire_scene(output: Output, entry: LedgerEntry) -> None:
    """Take a scene out of the data set: first its promise, then its files."""
    write_entry(output, entry)
    output.remove(_keys_of({entry.scene}, output))


def read_fragments(output: Output, scenes: Iterable[str]) -> list[bytes]:
    """Return the packed table rows of committed scenes, in the order asked for.

    Raises:
        StorageError: a committed scene has none.
    """
    fragments = []
    for scene in scenes:
        data = output.read(f"{FRAGMENTS}/{check_name(scene, what='scene')}.msgpack")
        if data is None:
            raise StorageError(f"scene {scene} is committed but its table rows are gone; fly it again: --force-scenes")
        fragments.append(data)
    return fragments


def sweep_orphans(output: Output) -> list[str]:
    """Remove everything that no committed scene owns, except what another process is flying right now.

    Returns:
        The keys that were removed, sorted.
    """
    committed = {name for name, entry in read_ledger(output).items() if entry.state == "committed"}
    owned: dict[str, list[str]] = {}
    for key in _all_scene_keys(output):
        scene = _scene_of_key(key)
        if scene is not None and scene not in committed:
            owned.setdefault(scene, []).append(key)
    removed = output.sweep_leftovers()
    for scene, keys in owned.items():
        with output.lock(scene) as ours:
            if ours and not _is_committed(output, scene):  # asked again: it may have been committed a moment ago
                output.remove(keys)
                removed += keys
    return sorted(removed)


def _is_committed(output: Output, scene: str) -> bool:
    entry = read_entry(output, scene)
    return entry is not None and entry.state == "committed"


def _all_scene_keys(output: Output) -> list[str]:
    roots = (*file_roots(), FRAGMENTS, RECORDINGS)
    staged = output.keys(".uavsim/staging") if output.is_local else []
    return [key for root in roots for key in output.keys(root)] + staged


def _keys_of(scenes: set[str], output: Output) -> list[str]:
    return [key for key in _all_scene_keys(output) if _scene_of_key(key) in scenes]


def _scene_of_key(key: str) -> str | None:
    """Name the scene that a file belongs to; None for a file that is not of any scene."""
    parts = Path(key).parts
    if parts[0] != ".uavsim":
        return scene_of_file(parts[-1])
    if parts[1] == "recordings":
        return parts[2]
    if parts[1] == "fragments":
        return parts[2].removesuffix(".msgpack")
    return None
