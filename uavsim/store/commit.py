"""A scene is committed or replaced whole or not at all; what belongs to no committed scene is swept away.

A scene that is flown again gets files with names of their own (another generation) unless they are the same bytes. The old
ones stay, and stay in the tables, until new tables that no longer name them are in their place.
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
    """Return the generation that a scene's entry stands for."""
    return Generation(entry.scene, entry.generation)


def committed_bytes(output: Output, scene: str) -> int:
    """Return the size of a committed scene's files, as they were written down at its commit; 0 for any other scene."""
    entry = read_entry(output, scene)
    marks = read_manifest(output, generation_of(entry)) if entry is not None and entry.state == "committed" else None
    return sum(mark.size_bytes for mark in (marks or {}).values())


def choose_generation(output: Output, scene: str, *, folder: Path, moves: Mapping[str, str]) -> int:
    """Return the generation whose names a flown scene takes: the committed one's when every file is the same.

    Args:
        output: the dataset.
        scene: its name; the caller holds it.
        folder: of the recording.
        moves: names in ``folder`` -> keys as of generation 0.
    """
    for generation in known_generations(output):  # of earlier attempts that were interrupted in this very run
        if generation.scene == scene and generation.number not in _kept(read_entry(output, scene)):
            drop_generation(output, generation)
    entry = read_entry(output, scene)
    if entry is None:
        return 0
    if entry.state == "committed" and _same_images(output, entry, folder=folder, moves=moves):
        return entry.generation
    return next(number for number in range(len(_kept(entry)) + 1) if number not in _kept(entry))


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

    First the manifest, then images, recording and table rows, and last the ledger entry, whose appearance is the commit: of a
    new scene, or of the one that replaces the committed one. Killed before that, ``sweep_orphans`` removes what came.

    Args:
        output: the dataset.
        entry: the scene's entry, with the generation of ``choose_generation``; it is written as ``committed``.
        folder: the staging folder of the recording.
        moves: names in ``folder`` -> keys in the dataset, for every image.
        log: name of the recording's log in ``folder``.
        fragment: the scene's packed table rows.

    Raises:
        StorageError: the place cannot be written; nothing of the scene counts.
    """
    foreign = [key for key in moves.values() if scene_of_file(Path(key).name) != entry.scene]
    if foreign:
        raise StorageError(
            f"scene {entry.scene} brings {foreign[0]}, which is not named after it; this is a bug, report it"
        )
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
    """Bring rows and recording of a scene whose images are the same: each is one file, whole before and after."""
    if output.read(generation.fragment) != fragment:
        output.replace(generation.fragment, fragment)
    with storage_errors(f"read {log}"):
        data = log.read_bytes()
    output.replace(f"{generation.recording}/{log.name}", data)


def read_fragment(output: Output, entry: LedgerEntry) -> bytes:
    """Return the packed table rows of a committed scene.

    Raises:
        StorageError: there are none.
    """
    key = generation_of(entry).fragment
    data = output.read(key)
    if data is None:
        raise StorageError(
            f"{output.address}/{key}: scene {entry.scene} is committed but its table rows are gone; make them again from "
            f"its recording: uavsim annotate {output.address} --scenes {entry.scene}"
        )
    return data


def drop_retired(output: Output, entries: Iterable[LedgerEntry]) -> None:
    """Remove the generations that no table names any more.

    Args:
        output: the dataset.
        entries: as they were read before the tables that are now in place were written.
    """
    for entry in entries:
        if not entry.retired:
            continue
        with output.lock(entry.scene) as ours:
            now = read_entry(output, entry.scene) if ours else None
            if now is None:  # another process is at the scene: next time
                continue
            for number in entry.retired:
                drop_generation(output, Generation(entry.scene, number))
            write_entry(output, replace(now, retired=tuple(n for n in now.retired if n not in entry.retired)))


def sweep_orphans(output: Output) -> list[str]:
    """Remove what commits that never happened brought, except what another process is flying right now.

    Only what a manifest of ours names is looked at, and only what is still what was written is removed. A scene's entry is
    there before its manifest is: a manifest without an entry is of one that somebody deleted, as the message about a damaged
    entry asks for, so that the scene is flown again. Its files are known by key and size then: a copied folder has other
    times, and what stayed would be in the new flight's way.

    Returns:
        The keys that were removed, sorted.
    """
    ledger = read_ledger(output)
    removed = output.sweep_leftovers()
    for generation in known_generations(output):
        if generation.number in _kept(ledger.get(generation.scene)):
            continue
        with output.lock(generation.scene) as ours:
            if not ours:
                continue
            entry = read_entry(output, generation.scene)  # asked again, in the lock
            if generation.number not in _kept(entry):
                removed += drop_generation(output, generation, any_time=entry is None)
    return sorted(removed)


def _kept(entry: LedgerEntry | None) -> set[int]:
    """Return the generations that are, or may be, in the tables."""
    if entry is None:
        return set()
    return {*entry.retired, *([entry.generation] if entry.state == "committed" else [])}
