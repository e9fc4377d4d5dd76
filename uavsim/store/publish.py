"""Replace tables: a version folder is exchanged in one step of the file system.

Readers see either all old tables or all new ones. Foreign files in a version folder (results, notes) stay there at all times;
foreign version folders are refused. On file systems that cannot exchange folders, tables are replaced one by one, and the next
run repairs an interruption.
"""

import stat
from collections.abc import Iterable
from typing import Final

from uavsim.errors import StorageError
from uavsim.files.own_folder import OwnFolder
from uavsim.files.parse import parse_json
from uavsim.store.foreign import give_back, mirror

_INFO: Final = "uav_dataset.json"  # lists the tables of a version folder; written last, removed last
_BESIDE_TABLES: Final = ("splits.json", _INFO)
_BLANK_BYTES: Final = 100  # a blank mask of 16 x 16 pixels is smaller, any other larger


def publish_tables(own: OwnFolder, staged: str, *, versions: Iterable[str]) -> None:
    """Move maps and version folders from the staging folder ``staged`` (a key) into the dataset.

    Raises:
        StorageError: a foreign file or folder is in the way.
    """
    for version in versions:
        _refuse_foreign_folder(own, f"{staged}/{version}", version)
    for name, _ in own.names(f"{staged}/maps"):
        _publish_map(own, f"{staged}/maps/{name}", f"maps/{name}")
    for version in versions:
        for name, _ in own.names(f"{staged}/{version}"):
            own.sync(f"{staged}/{version}/{name}")
        _publish_version(own, f"{staged}/{version}", version)


def _refuse_foreign_folder(own: OwnFolder, new: str, version: str) -> None:
    entries = own.names(version)
    if entries and not _is_ours(own, version):
        raise StorageError(
            f"{own.root}/{version} is there and is not ours (it has no {_INFO}); move it away and run the same command again"
        )
    foreign = {name for name, _ in entries} - _tables_of(own, version)
    clashes = sorted(foreign & {name for name, _ in own.names(new)})
    if clashes:
        raise StorageError(f"{own.root}/{version}/{clashes[0]} is there and is not ours; move it away and run again")


def _publish_version(own: OwnFolder, new: str, version: str) -> None:
    if not own.names(version):
        own.rename(new, version)
        return
    mirror(own, version, new, names=_foreign_files(own, version))
    if own.exchange(new, version):
        _return(own, new, version)
    else:
        for name in sorted(_tables_of(own, new) & {name for name, _ in own.names(new)}, key=lambda name: name == _INFO):
            data = own.read(f"{new}/{name}")
            assert data is not None, "other processes do not use this staging folder"
            own.replace(f"{version}/{name}", data)


def return_foreign_files(own: OwnFolder, staged: str) -> None:
    """Move foreign files back from a version folder that was exchanged before its run was killed."""
    for name, mode in own.names(staged):
        if stat.S_ISDIR(mode) and _is_ours(own, f"{staged}/{name}") and own.names(name):
            _return(own, f"{staged}/{name}", name)


def _return(own: OwnFolder, old: str, version: str) -> None:
    give_back(own, old, version, names=_foreign_files(own, old))


def _foreign_files(own: OwnFolder, version: str) -> list[str]:
    return sorted({name for name, _ in own.names(version)} - _tables_of(own, version))


def _is_ours(own: OwnFolder, version: str) -> bool:
    return bool(_tables_of(own, version))


def _tables_of(own: OwnFolder, version: str) -> set[str]:
    """Return the names of the dataset's files in a version folder, by its description; empty without one."""
    if own.mark(f"{version}/{_INFO}") is None:
        return set()
    data = own.read(f"{version}/{_INFO}")
    try:
        rows = parse_json(data or b"")["rows"]
        return {*(f"{table}.json" for table in rows), *_BESIDE_TABLES}
    except (ValueError, TypeError, KeyError) as error:
        raise StorageError(
            f"{own.root}/{version}/{_INFO} is damaged ({error}): it says which tables are ours; move the folder away and run "
            "the same command again"
        ) from error


def _publish_map(own: OwnFolder, new: str, key: str) -> None:
    """Write a map mask, or replace a blank one.

    Raises:
        StorageError: a different mask exists.
    """
    drawn, existing = own.read(new), own.read(key)
    assert drawn is not None, "other processes do not use this staging folder"
    if existing is None:
        own.create(key, drawn)
    elif existing != drawn and len(existing) <= _BLANK_BYTES < len(drawn):
        own.replace(key, drawn)
    elif existing != drawn and len(drawn) > _BLANK_BYTES:
        raise StorageError(f"{own.root}/{key} is there and is not ours; move it away and run the same command again")
