"""Foreign files in a folder that is exchanged: each is in its place at every moment, also if the exchange is cut short.

Before the exchange everything gets a second name in the new folder (hard links); after it the first names go. What appears in
between is moved; of two files that then have one name, the one changed last keeps it and the other stays beside it.
"""

import stat
from collections.abc import Iterable
from itertools import count

from uavsim.files.own_folder import OwnFolder


def mirror(own: OwnFolder, old: str, new: str, *, names: Iterable[str]) -> None:
    """Give entries of a folder second names in another; what cannot have one is left to ``give_back``."""
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
    """Bring entries of a folder to their place; what is there already under the same name loses its name here."""
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
