"""Listening sockets of a run's processes that other machines can reach."""

import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_LISTEN: Final = "0A"


def open_to_others(pid: int) -> list[str]:
    """Return ``program at address:port`` of all listening TCP sockets of a process and its descendants, except on loopback.

    Source: proc(5), ``/proc/net/tcp``: addresses are words in the machine's order.
    """
    listening = dict(_listening())
    found = set()
    for one in _family(pid):
        for inode in _sockets(one) & set(listening):
            name = Path(f"/proc/{one}/comm").read_text().strip()
            found.add(f"{name} at {listening[inode]}")
    return sorted(found)


def _listening() -> Iterator[tuple[str, str]]:
    for table, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        with suppress(FileNotFoundError):  # a system without IPv6
            for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                words = line.split()
                address, port = words[1].split(":")
                raw = b"".join(bytes.fromhex(address[k : k + 8])[::-1] for k in range(0, len(address), 8))
                ip_address = socket.inet_ntop(family, raw)
                if words[3] == _LISTEN and not ip_address.startswith("127.") and ip_address != "::1":
                    yield words[9], f"{ip_address}:{int(port, 16)}"


def _family(pid: int) -> Iterator[int]:
    yield pid
    with suppress(OSError):  # it ended meanwhile
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from _family(int(child))


def _sockets(pid: int) -> set[str]:
    found = set()
    with suppress(OSError):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                target = os.readlink(descriptor)  # noqa: PTH115 - socket:[inode] is no path
                if target.startswith("socket:["):
                    found.add(target[8:-1])
    return found
