"""Keep foreign files in place while their folder is exchanged, even if the exchange is interrupted.

Before the exchange, hard links give foreign files second names in the new folder; afterwards the first names are removed.
Files that appear in between are moved. If two files have the same name, the newer one keeps it, and the other gets a suffix.
"""

import stat
from collections.abc import Iterable
from itertools import count

from uavsim.files.own_folder import OwnFolder


def mirror(own: OwnFolder, old: str, new: str, *, names: Iterable[str]) -> None:
    """Link entries of a folder into another; ``give_back`` moves those that cannot be linked."""
    kinds = dict(own.names(old))
    for name in names:
        source, target = f"{old}/{name}", f"{new}/{name}"
        if not stat.S_ISDIR(kinds[name]):
            own.link(source, target)
            continue
        own.make_folder(target)
        mirror(own, source, target, names=[below for below, _ in own.names(source)])
        own.look_alike(source, target)


def give_back(own: OwnFolder, old: str, place: str, *, names: Iterable[str]) -> None:
    """Move entries of a folder to ``place``; entries that are linked there already lose their name in the folder."""
    here, there = dict(own.names(old)), dict(own.names(place))
    for name in names:
        source, target = f"{old}/{name}", f"{place}/{name}"
        if name not in there:
            own.rename(source, target)
        elif stat.S_ISDIR(here[name]) and stat.S_ISDIR(there[name]):
            give_back(own, source, target, names=[below for below, _ in own.names(source)])
            own.remove_empty(source)
        elif not own.drop_second_name(source, target):
            if own.changed_ns(source) > own.changed_ns(target):
                own.exchange(source, target)
            own.rename(source, f"{place}/{_free(name, there)}")


def _free(name: str, taken: Iterable[str]) -> str:
    names = (f"{name}.before{number or ''}" for number in count())
    return next(free for free in names if free not in taken)
