"""Wake a Traffic Manager that waits for a tick that waits for it (CARLA's issue 9172).

Its worker waits under a condition that is true, and was not told. Whatever tells it lets it take the step that it missed.
libcarla's own calls cannot: the tick that hangs holds the lock that they all take. But a Traffic Manager also listens at its
port, for clients of other processes, and its ``set_synchronous_mode`` takes no lock. To be told that it is asynchronous
wakes the worker; that it is synchronous again is the next message, long before the worker has taken its step.

Sources: ``TrafficManagerLocal.cpp`` (``Run``, ``SynchronousTick``, ``SetSynchronousMode``) and ``TrafficManagerServer.h`` of
LibCarla 0.9.16; rpclib's messages are ``[0, id, name, arguments]`` in msgpack.
"""

from __future__ import annotations

import socket
from typing import Final

__all__ = ["wake_traffic_manager"]

_NAME: Final = b"\xb4set_synchronous_mode"
_ASYNCHRONOUS: Final = b"\x94\x00\x01" + _NAME + b"\x91\xc2"  # [0, 1, name, [False]]
_SYNCHRONOUS: Final = b"\x94\x00\x02" + _NAME + b"\x91\xc3"
_ANSWERS: Final = b"\x94\x01\x01\xc0\xc0" + b"\x94\x01\x02\xc0\xc0"  # [1, id, no error, nothing]
_ANSWER_WITHIN_S: Final = 2.0


def wake_traffic_manager(port: int, *, within_s: float = _ANSWER_WITHIN_S) -> bool:
    """Wake the worker of this process's Traffic Manager; True when it was told.

    To be called where a tick hangs, and nowhere else: a worker that is at its step would take another one afterwards.

    Args:
        port: of the Traffic Manager, on this machine.
        within_s: it has to answer.
    """
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=within_s) as connection:
            connection.sendall(_ASYNCHRONOUS + _SYNCHRONOUS)
            answers = b""
            while len(answers) < len(_ANSWERS) and (more := connection.recv(64)):
                answers += more
    except OSError:
        return False
    return answers == _ANSWERS
