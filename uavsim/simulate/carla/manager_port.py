"""The Traffic Manager of this process, and its port: closed to other programs, and a way to wake the manager.

libcarla opens an RPC server on all addresses, without authentication: any program that reaches it can change every vehicle of
a flight. The listening socket, which belongs to this process, is therefore replaced by an unreachable one. That closes the
port without privileges (newer kernels let only administrators filter a TCP socket). One connection of our own is opened
before.

That connection wakes a manager that waits for a tick that waits for it (CARLA's issue 9172): its worker missed the
notification of a condition that is true. Any notification makes it take the missed step. libcarla's own calls cannot send
one, because the hanging tick holds the lock that they all take. ``set_synchronous_mode`` over the port takes no lock:
asynchronous wakes the worker; synchronous follows in the next message, long before the worker has taken its step.

Sources: ``TrafficManagerLocal.cpp`` (``Run``, ``SynchronousTick``, ``SetSynchronousMode``) and ``TrafficManagerServer.h`` of
LibCarla 0.9.16; rpclib's messages are ``[0, id, name, arguments]`` in msgpack; dup2(2), epoll(7), unix(7).
"""

import os
import socket
from pathlib import Path
from typing import Final

import carla

from uavsim.errors import SimulatorLost, SystemFailure
from uavsim.files.scratch import scratch_folder

_HOST: Final = "127.0.0.1"
_LISTEN: Final = "0A"
_OVER: Final = {"06", "07"}  # TIME_WAIT, CLOSE
_ANSWER_WITHIN_S: Final = 2.0
_NOTHING: Final = "health_check_remote_TM"  # the manager's function that does nothing
_MODE: Final = "set_synchronous_mode"
_NO: Final = b"\x91\xc2"  # [False]
_YES: Final = b"\x91\xc3"


class Manager:
    """The only Traffic Manager of this process, in synchronous mode, with its port closed to others.

    libcarla moves every Traffic Manager into each loaded town and ticks it there: one for each town would add one that tracks
    all vehicles at every tick.

    Attributes:
        vendors: libcarla's object.
        port: the closed port.
    """

    def __init__(self, client: carla.Client) -> None:
        """Start the Traffic Manager.

        Raises:
            SimulatorLost: it does not answer, or another program connected to its port first.
            SystemFailure: this system cannot close its port.
        """
        self.vendors = client.get_trafficmanager(free_port())
        self.port = ManagerPort(int(self.vendors.get_port()))
        self.vendors.set_synchronous_mode(True)

    def shut_down(self) -> None:
        """Stop the Traffic Manager."""
        self.vendors.set_synchronous_mode(False)
        self.vendors.shut_down()
        self.port.close()


class ManagerPort:
    """The port of this process's Traffic Manager; create it before any vehicle is registered there."""

    def __init__(self, port: int) -> None:
        """Connect, and refuse other connections from now on.

        Raises:
            SimulatorLost: the manager does not answer, or another program connected first.
            SystemFailure: this system cannot close the port.
        """
        self._port, self._sent = port, 0
        try:
            self._own = socket.create_connection((_HOST, port), timeout=_ANSWER_WITHIN_S)
        except OSError as error:
            raise SimulatorLost(
                f"the Traffic Manager at port {port} of this process does not listen: {error}"
            ) from error
        try:
            if not self._answered(
                (_NOTHING, b"\x90")
            ):  # the connection exists when it is answered; then the port may close
                raise SimulatorLost(f"the Traffic Manager at port {port} of this process does not answer")
            _close_port(port)
            self._refuse_others()
        except BaseException:
            self._own.close()
            raise

    def wake(self, *, within_s: float = _ANSWER_WITHIN_S) -> bool:
        """Wake the manager's worker; returns True if it answered.

        Call it only while a tick hangs: a worker in its step would take an additional step afterwards.

        Args:
            within_s: time limit of the answer.
        """
        return self._answered((_MODE, _NO), (_MODE, _YES), within_s=within_s)

    def close(self) -> None:
        """Close our own connection."""
        self._own.close()

    def _answered(self, *calls: tuple[str, bytes], within_s: float = _ANSWER_WITHIN_S) -> bool:
        """Send calls (name, msgpack arguments) in one write; returns True if each was answered without a value or error."""
        ids = [(self._sent + n) % 128 for n in range(len(calls))]
        self._sent += len(calls)
        expected = b"".join(b"\x94\x01" + bytes([i]) + b"\xc0\xc0" for i in ids)  # [1, id, no error, nothing]
        reply = b""
        try:
            self._own.settimeout(within_s)
            self._own.sendall(b"".join(_call(i, *call) for i, call in zip(ids, calls, strict=True)))
            while len(reply) < len(expected) and (more := self._own.recv(64)):
                reply += more
        except OSError:
            return False
        return reply == expected

    def _refuse_others(self) -> None:
        own_port = self._own.getsockname()[1]
        if others := connections_at(self._port) - {own_port}:
            raise SimulatorLost(f"another program connected to this flight's Traffic Manager, from port {min(others)}")
        try:
            with socket.create_connection((_HOST, self._port), timeout=_ANSWER_WITHIN_S):
                pass
        except ConnectionRefusedError:
            return
        except OSError as error:
            raise SystemFailure(
                f"the Traffic Manager's port {self._port} may be open to other programs: {error}"
            ) from error
        raise SystemFailure(f"the Traffic Manager's port {self._port} is open to other programs (SECURITY.md)")


def free_port() -> int:
    """Return a free TCP port of this machine."""
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        return int(probe.getsockname()[1])


def connections_at(port: int) -> set[int]:
    """Return the remote ports of the connections to a local port.

    Raises:
        SystemFailure: this system does not list connections.
    """
    return {
        int(remote.rpartition(":")[2], 16) for remote, state, _ in _sockets_at(port) if state not in {_LISTEN, *_OVER}
    }


def _call(number: int, name: str, arguments: bytes) -> bytes:
    return b"\x94\x00" + bytes([number, 0xA0 + len(name)]) + name.encode() + arguments


def _close_port(port: int) -> None:
    """Replace the socket with which this process listens at a port by an unreachable one.

    The new socket listens, too, and does not block: libcarla waits in ``accept``, where an error would make it retry at once,
    forever. Its name is removed before another program could know it.
    """
    inodes = {f"socket:[{inode}]" for _, state, inode in _sockets_at(port) if state == _LISTEN}
    listening = [entry for entry in Path("/proc/self/fd").iterdir() if _target(entry) in inodes]
    if not listening:
        raise SimulatorLost(f"the Traffic Manager does not listen at port {port} of this process")
    try:
        with scratch_folder("uavsim-manager-") as folder, socket.socket(socket.AF_UNIX) as unreachable:
            unreachable.bind(str(folder / "unreachable"))
            (folder / "unreachable").unlink()
            unreachable.listen()
            unreachable.setblocking(False)
            for entry in listening:
                os.dup2(unreachable.fileno(), int(entry.name), inheritable=False)
    except OSError as error:
        raise SystemFailure(f"this system cannot close the Traffic Manager's port {port} to others: {error}") from error


def _target(entry: Path) -> str:
    try:
        return str(entry.readlink())
    except FileNotFoundError:  # closed by another thread meanwhile
        return ""


def _sockets_at(port: int) -> list[tuple[str, str, str]]:
    """Return (remote address, state, inode) of each TCP socket with a local port (proc_net_tcp of the kernel)."""
    found = []
    for table in ("tcp", "tcp6"):
        try:
            lines = Path("/proc/self/net", table).read_text("ascii").splitlines()[1:]
        except FileNotFoundError as error:
            if table == "tcp":
                raise SystemFailure("this system does not list its connections in /proc/self/net") from error
            continue  # a kernel without IPv6
        rows = (line.split() for line in lines)
        found += [(row[2], row[3], row[9]) for row in rows if int(row[1].rpartition(":")[2], 16) == port]
    return found
