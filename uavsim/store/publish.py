"""New tables take the place of the old ones: a version folder is exchanged whole, in one step of the file system.

Readers see all old tables or all new ones. Files of others in a version folder (results, notes) are in it at every moment; a
version folder that we did not make is not touched. Where the file system cannot exchange folders, tables are replaced one
after the other, and a kill in between is repaired by the next run.
"""

import stat
from collections.abc import Iterable
from typing import Final

from uavsim.errors import StorageError
from uavsim.files.own_folder import OwnFolder
from uavsim.files.parse import parse_json
from uavsim.store.foreign import give_back, mirror

_INFO: Final = "uav_dataset.json"  # in every version folder of ours: which tables it holds; written last, removed last
_BESIDE_TABLES: Final = ("splits.json", _INFO)


def publish_tables(own: OwnFolder, staged: str, *, versions: Iterable[str]) -> None:
    """Put maps and version folders from the staging folder ``staged`` (a key) into their places.

    Raises:
        StorageError: something that is not ours is in the way; it is left as it is.
    """
    for version in versions:
        _refuse_what_is_not_ours(own, f"{staged}/{version}", version)
    for name, _ in own.names(f"{staged}/maps"):
        _publish_map(own, f"{staged}/maps/{name}", f"maps/{name}")
    for version in versions:
        for name, _ in own.names(f"{staged}/{version}"):
            own.sync(f"{staged}/{version}/{name}")
        _publish_version(own, f"{staged}/{version}", version)


def _refuse_what_is_not_ours(own: OwnFolder, new: str, version: str) -> None:
    there = own.names(version)
    if there and not _is_ours(own, version):
        raise StorageError(
            f"{own.root}/{version} is there and is not ours (it has no {_INFO}); move it away and run the same command again"
        )
    foreign = {name for name, _ in there} - _tables_of(own, version)
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
            assert data is not None, "nobody else is in a staging folder of ours"
            own.replace(f"{version}/{name}", data)


def return_foreign_files(own: OwnFolder, staged: str) -> None:
    """Give back what was in a version folder that had been exchanged when its run was killed."""
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
    """Return the names of the files that we put into a version folder, by what its own description reports; {} if none."""
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
    """Put a map mask there unless it is; a blank one gives way, anything else that is not the same is not ours."""
    drawn, there = own.read(new), own.read(key)
    assert drawn is not None, "nobody else is in a staging folder of ours"
    if there is None:
        own.create(key, drawn)
    elif there != drawn and len(there) <= _BLANK_BYTES < len(drawn):
        own.replace(key, drawn)
    elif there != drawn and len(drawn) > _BLANK_BYTES:
        raise StorageError(f"{own.root}/{key} is there and is not ours; move it away and run the same command again")


_BLANK_BYTES: Final = 100  # a blank mask of 16 x 16 pixels is smaller, a drawn one larger
