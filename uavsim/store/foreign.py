"""Keep foreign files in place while their folder is exchanged, even if the exchange is interrupted.

Before the exchange, hard links give foreign files second names in the new folder; afterwards the first names are removed.
Files that appear in between are moved. If two files have the same name, the newer one keeps it, and the other gets a suffix.
"""

import stat
from collections.abc import Iterable
from itertools import count

from uavsim.files.own_folder import OwnFolder


def mirror(dataset: OwnFolder, old: str, new: str, *, names: Iterable[str]) -> None:
    """Link entries of a folder into another; ``give_back`` moves those that cannot be linked."""
    modes = dict(dataset.names(old))
    for name in names:
        source, target = f"{old}/{name}", f"{new}/{name}"
        if not stat.S_ISDIR(modes[name]):
            dataset.link(source, target)
            continue
        dataset.make_folder(target)
        mirror(dataset, source, target, names=[below for below, _ in dataset.names(source)])
        dataset.look_alike(source, target)


def give_back(dataset: OwnFolder, old: str, new: str, *, names: Iterable[str]) -> None:
    """Move entries of a folder to ``new``; entries that are linked there already lose their name in the folder."""
    old_modes, new_modes = dict(dataset.names(old)), dict(dataset.names(new))
    for name in names:
        source, target = f"{old}/{name}", f"{new}/{name}"
        if name not in new_modes:
            dataset.rename(source, target)
        elif stat.S_ISDIR(old_modes[name]) and stat.S_ISDIR(new_modes[name]):
            give_back(dataset, source, target, names=[below for below, _ in dataset.names(source)])
            dataset.remove_empty(source)
        elif not dataset.drop_second_name(source, target):
            if dataset.changed_ns(source) > dataset.changed_ns(target):
                dataset.exchange(source, target)
            dataset.rename(source, f"{new}/{_free(name, new_modes)}")


def _free(name: str, taken: Iterable[str]) -> str:
    names = (f"{name}.before{number or ''}" for number in count())
    return next(free for free in names if free not in taken)
