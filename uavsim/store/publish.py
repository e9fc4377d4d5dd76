"""Replace tables: a version folder is exchanged in one step of the file system.

Readers see either all old tables or all new ones. Foreign files in a version folder (results, notes) stay there at all times:
before the exchange, hard links give them second names in the new folder; afterwards the first names are removed. Files that
appear in between are moved; of two files of one name, the newer one keeps it. Foreign version folders are refused. On file
systems that cannot exchange folders, tables are replaced one by one, and the next run repairs an interruption.
"""

import itertools
import stat
from collections.abc import Iterable
from typing import Final

from uavsim.errors import StorageError
from uavsim.files.own_folder import OwnFolder
from uavsim.files.parse import parse_json

_INFO: Final = "uav_dataset.json"  # lists the tables of a version folder; written last, removed last
_BESIDE_TABLES: Final = ("splits.json", _INFO)
_BLANK_BYTES: Final = 100  # a blank mask of 16 x 16 pixels is smaller, any other larger


def publish_tables(dataset: OwnFolder, staged: str, *, versions: Iterable[str]) -> None:
    """Move maps and version folders from the staging folder ``staged`` (a key) into the dataset.

    Raises:
        StorageError: a foreign file or folder is in the way.
    """
    for version in versions:
        _refuse_foreign_folder(dataset, f"{staged}/{version}", version)
    for name, _ in dataset.names(f"{staged}/maps"):
        _publish_map(dataset, f"{staged}/maps/{name}", f"maps/{name}")
    for version in versions:
        for name, _ in dataset.names(f"{staged}/{version}"):
            dataset.sync(f"{staged}/{version}/{name}")
        _publish_version(dataset, f"{staged}/{version}", version)


def _refuse_foreign_folder(dataset: OwnFolder, new: str, version: str) -> None:
    entries = dataset.names(version)
    if entries and not _is_ours(dataset, version):
        raise StorageError(
            f"{dataset.root}/{version} exists without {_INFO}, so uavsim did not write it; move it away and run the "
            "same command again"
        )
    foreign = {name for name, _ in entries} - _tables_of(dataset, version)
    clashes = sorted(foreign & {name for name, _ in dataset.names(new)})
    if clashes:
        raise StorageError(
            f"{dataset.root}/{version}/{clashes[0]} exists, and uavsim did not write it; move it away and run again"
        )


def _publish_version(dataset: OwnFolder, new: str, version: str) -> None:
    if not dataset.names(version):
        dataset.rename(new, version)
        return
    _mirror(dataset, version, new, names=_foreign_files(dataset, version))
    if dataset.exchange(new, version):
        _return(dataset, new, version)
    else:
        names = _tables_of(dataset, new) & {name for name, _ in dataset.names(new)}
        for name in sorted(names, key=lambda name: name == _INFO):
            data = dataset.read(f"{new}/{name}")
            assert data is not None, "other processes do not use this staging folder"
            dataset.replace(f"{version}/{name}", data)


def return_foreign_files(dataset: OwnFolder, staged: str) -> None:
    """Move foreign files back from a version folder that was exchanged before its run was killed."""
    for name, mode in dataset.names(staged):
        if stat.S_ISDIR(mode) and _is_ours(dataset, f"{staged}/{name}") and dataset.names(name):
            _return(dataset, f"{staged}/{name}", name)


def _return(dataset: OwnFolder, old: str, version: str) -> None:
    _give_back(dataset, old, version, names=_foreign_files(dataset, old))


def _foreign_files(dataset: OwnFolder, version: str) -> list[str]:
    return sorted({name for name, _ in dataset.names(version)} - _tables_of(dataset, version))


def _is_ours(dataset: OwnFolder, version: str) -> bool:
    return bool(_tables_of(dataset, version))


def _tables_of(dataset: OwnFolder, version: str) -> set[str]:
    """Return the names of the dataset's files in a version folder, by its description; empty without one."""
    if dataset.mark(f"{version}/{_INFO}") is None:
        return set()
    data = dataset.read(f"{version}/{_INFO}")
    try:
        rows = parse_json(data or b"")["rows"]
        return {*(f"{table}.json" for table in rows), *_BESIDE_TABLES}
    except (ValueError, TypeError, KeyError) as error:
        raise StorageError(
            f"{dataset.root}/{version}/{_INFO} is damaged ({error}), the list of tables; move the folder away and run "
            "the same command again"
        ) from error


def _publish_map(dataset: OwnFolder, new: str, key: str) -> None:
    """Write a map mask, or replace a blank one.

    Raises:
        StorageError: a different mask exists.
    """
    drawn, existing = dataset.read(new), dataset.read(key)
    assert drawn is not None, "other processes do not use this staging folder"
    if existing is None:
        dataset.create(key, drawn)
    elif existing != drawn and len(existing) <= _BLANK_BYTES < len(drawn):
        dataset.replace(key, drawn)
    elif existing != drawn and len(drawn) > _BLANK_BYTES:
        raise StorageError(f"{dataset.root}/{key} exists, and uavsim did not write it; move it away and run again")


def _mirror(dataset: OwnFolder, old: str, new: str, *, names: Iterable[str]) -> None:
    """Link entries of a folder into another; ``_give_back`` moves those that cannot be linked."""
    modes = dict(dataset.names(old))
    for name in names:
        source, target = f"{old}/{name}", f"{new}/{name}"
        if not stat.S_ISDIR(modes[name]):
            dataset.link(source, target)
            continue
        dataset.make_folder(target)
        _mirror(dataset, source, target, names=[below for below, _ in dataset.names(source)])
        dataset.look_alike(source, target)


def _give_back(dataset: OwnFolder, old: str, new: str, *, names: Iterable[str]) -> None:
    """Move entries of a folder to ``new``; entries that are linked there already lose their name in the folder."""
    old_modes, new_modes = dict(dataset.names(old)), dict(dataset.names(new))
    for name in names:
        source, target = f"{old}/{name}", f"{new}/{name}"
        if name not in new_modes:
            dataset.rename(source, target)
        elif stat.S_ISDIR(old_modes[name]) and stat.S_ISDIR(new_modes[name]):
            _give_back(dataset, source, target, names=[below for below, _ in dataset.names(source)])
            dataset.remove_empty(source)
        elif not dataset.drop_second_name(source, target):
            if dataset.changed_ns(source) > dataset.changed_ns(target):
                dataset.exchange(source, target)
            dataset.rename(source, f"{new}/{_free(name, new_modes)}")


def _free(name: str, taken: Iterable[str]) -> str:
    names = (f"{name}.before{number or ''}" for number in itertools.count())
    return next(free for free in names if free not in taken)
