"""Commit or replace scenes atomically, and remove the files of interrupted commits.

The files of a scene that is flown again have new names (another generation), unless the bytes are the same. The old files stay
until the new tables, which do not name them, are in their place.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from uavsim.errors import StorageError
from uavsim.files.names import generation_name
from uavsim.files.whole import storage_errors
from uavsim.store.layout import scene_of_file
from uavsim.store.ledger import LedgerEntry, read_entry, read_ledger, write_entry
from uavsim.store.manifest import Generation, drop_generation, known_generations, read_manifest, write_manifest
from uavsim.store.output import Output

_FRAGMENT = "fragment.msgpack"


def generation_of(entry: LedgerEntry) -> Generation:
    """Return the generation of a scene's entry."""
    return Generation(entry.scene, entry.generation)


def committed_bytes(output: Output, scene: str) -> int:
    """Return the size of a committed scene's files by its manifest; 0 for any other scene."""
    entry = read_entry(output, scene)
    marks = read_manifest(output, generation_of(entry)) if entry is not None and entry.state == "committed" else None
    return sum(mark.size_bytes for mark in (marks or {}).values())


def choose_generation(output: Output, scene: str, *, folder: Path, moves: Mapping[str, str]) -> int:
    """Return the generation for a flown scene: the committed one if every file is the same, else a free one.

    Args:
        output: the dataset.
        scene: name of the scene; the caller holds its lock.
        folder: folder of the recording.
        moves: names in ``folder`` -> keys of generation 0.
    """
    for generation in known_generations(output):  # interrupted attempts of this run
        if generation.scene == scene and generation.number not in _generations(read_entry(output, scene)):
            drop_generation(output, generation)
    entry = read_entry(output, scene)
    if entry is None:
        return 0
    if entry.state == "committed" and _same_images(output, entry, folder=folder, moves=moves):
        return entry.generation
    return next(number for number in range(len(_generations(entry)) + 1) if number not in _generations(entry))


def _same_images(output: Output, entry: LedgerEntry, *, folder: Path, moves: Mapping[str, str]) -> bool:
    keys = {source: generation_name(key, entry.generation) for source, key in moves.items()}
    known = read_manifest(output, generation_of(entry))
    if known is not None and {k for k in known if not k.startswith(".uavsim/")} != set(keys.values()):
        return False
    return all(output.same(key, folder / source) for source, key in keys.items())


def commit_scene(
    output: Output, entry: LedgerEntry, *, folder: Path, moves: Mapping[str, str], log: str, fragment: bytes
) -> LedgerEntry:
    """Move a flown and labelled scene into the dataset.

    The order is: manifest, images, recording and table rows, ledger entry. Writing the ledger entry is the commit. If the
    process dies before, ``sweep_orphans`` removes the files.

    Args:
        output: the dataset.
        entry: the scene's entry, with the generation of ``choose_generation``; it is written as ``committed``.
        folder: the staging folder of the recording.
        moves: names in ``folder`` -> keys in the dataset, for every image.
        log: name of the recording's log in ``folder``.
        fragment: the scene's packed table rows.

    Raises:
        StorageError: the dataset cannot be written; the scene is not committed.
    """
    foreign = [key for key in moves.values() if scene_of_file(Path(key).name) != entry.scene]
    if foreign:
        raise StorageError(f"scene {entry.scene}: {foreign[0]} is not named after the scene; this is a bug, report it")
    new, old = generation_of(entry), read_entry(output, entry.scene)
    retired = old.retired if old is not None else ()
    if old is not None and old.state == "committed" and old.generation == new.number:
        _replace_rows(output, new, log=folder / log, fragment=fragment)
    else:
        with storage_errors(f"stage scene {entry.scene}"):
            (folder / _FRAGMENT).write_bytes(fragment)
        everything = {**moves, log: f"{new.recording}/{Path(log).name}", _FRAGMENT: new.fragment}
        write_manifest(output, new, folder=folder, moves=everything)
        output.adopt(folder, moves=everything)
        retired += (old.generation,) if old is not None and old.state == "committed" else ()
    committed = replace(entry, state="committed", retired=retired, replacing=None)
    write_entry(output, committed)
    return committed


def _replace_rows(output: Output, generation: Generation, *, log: Path, fragment: bytes) -> None:
    """Replace table rows and recording of a scene with the same images."""
    if output.read(generation.fragment) != fragment:
        output.replace(generation.fragment, fragment)
    with storage_errors(f"read {log}"):
        data = log.read_bytes()
    output.replace(f"{generation.recording}/{log.name}", data)


def read_fragment(output: Output, entry: LedgerEntry) -> bytes:
    """Return the packed table rows of a committed scene.

    Raises:
        StorageError: the rows are missing.
    """
    key = generation_of(entry).fragment
    data = output.read(key)
    if data is None:
        raise StorageError(
            f"{output.address}/{key} is missing, the table rows of committed scene {entry.scene}; write them again from its "
            f"recording: uavsim annotate {output.address} --scenes {entry.scene}"
        )
    return data


def drop_retired(output: Output, entries: Iterable[LedgerEntry]) -> None:
    """Remove the generations that the tables no longer name.

    Args:
        output: the dataset.
        entries: as read before the present tables were written.
    """
    for entry in entries:
        if not entry.retired:
            continue
        with output.lock(entry.scene) as locked:
            current = read_entry(output, entry.scene) if locked else None
            if current is None:  # another process holds the scene: try again in the next run
                continue
            for number in entry.retired:
                drop_generation(output, Generation(entry.scene, number))
            write_entry(output, replace(current, retired=tuple(n for n in current.retired if n not in entry.retired)))


def sweep_orphans(output: Output) -> list[str]:
    """Remove the files of interrupted commits, except those of scenes that another process holds.

    Only files in a manifest are removed, and only if they are unchanged. The entry of a scene is written before its manifest;
    for a manifest without an entry, a user deleted the entry to fly the scene again. Key and size then identify its files: a
    copied folder has other times, and remaining files would block the new flight.

    Returns:
        The removed keys, sorted.
    """
    ledger = read_ledger(output)
    removed = output.sweep_leftovers()
    for generation in known_generations(output):
        if generation.number in _generations(ledger.get(generation.scene)):
            continue
        with output.lock(generation.scene) as locked:
            if not locked:
                continue
            entry = read_entry(output, generation.scene)  # read again, under the lock
            if generation.number not in _generations(entry):
                removed += drop_generation(output, generation, any_time=entry is None)
    return sorted(removed)


def _generations(entry: LedgerEntry | None) -> set[int]:
    """Return the generations that the tables may name."""
    if entry is None:
        return set()
    return {*entry.retired, *([entry.generation] if entry.state == "committed" else [])}
