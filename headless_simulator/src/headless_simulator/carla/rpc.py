"""The RPC server: msgpack-RPC as rpclib speaks it, a thread per connection.

A request is ``[0, id, method, [[asynchronous], args...]]``, its answer ``[1, id, error or nil, result]``.

Calls that make the simulation advance run in a second thread per connection, so that the others are answered
meanwhile. The client's Traffic Manager wakes its worker without holding the lock under which the worker waits; a step
that arrives while the worker is just about to wait is lost and both hang for ever. The worker asks for the episode
settings right before it waits, so the answer to such a call is held back until ``WAKE_GAP_S`` after that question.
"""

from __future__ import annotations

import contextlib
import queue
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Final

import msgpack

LARGEST_MESSAGE: Final = 64 << 20
WAKE_GAP_S: Final = 0.003
_WAKE_LIMIT_S: Final = 0.1
_IDLE_QUESTION_S: Final = 0.002  # an asynchronous Traffic Manager asks for the settings in a busy loop
_QUEUED_STEPS: Final = 1024

Answer = tuple[Any, Any]  # error, result
Call = Callable[[str, list[Any]], Answer]


def pack(value: Any) -> bytes:
    """Pack an answer."""
    packed: bytes = msgpack.packb(value, use_bin_type=True, unicode_errors="surrogateescape")
    return packed


class RpcConnection:
    """One client's connection.

    Args:
        connection: accepted socket.
        call: answers a method.
        advances: whether a call makes the simulation advance.
        is_synchronous: whether clients own the clock now.
    """

    def __init__(
        self,
        connection: socket.socket,
        *,
        call: Call,
        advances: Callable[[str, list[Any]], bool],
        is_synchronous: Callable[[], bool],
    ) -> None:
        self._connection = connection
        self._call = call
        self._advances = advances
        self._is_synchronous = is_synchronous
        self._write_lock = threading.Lock()
        self.managers: set[int] = set()  # ports of the Traffic Managers that live at the other end
        self._asked_s = 0.0
        self._stepped_s = 0.0
        self._steps: queue.Queue[tuple[int, str, list[Any]] | None] = queue.Queue(_QUEUED_STEPS)
        self._stepper: threading.Thread | None = None

    def serve(self) -> None:
        """Answer until the client leaves or sends what is no request."""
        unpacker = msgpack.Unpacker(
            raw=False, strict_map_key=False, unicode_errors="surrogateescape", max_buffer_size=LARGEST_MESSAGE
        )
        try:
            while data := self._connection.recv(1 << 18):
                unpacker.feed(data)
                for message in unpacker:
                    self._take(message)
        except (ValueError, TypeError, msgpack.exceptions.UnpackException, RecursionError):
            return  # not msgpack, or not a request: there is nobody to answer to
        finally:
            if self._stepper is not None:
                self._steps.put(None)
            with contextlib.suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)

    def _take(self, message: Any) -> None:
        if not isinstance(message, list) or len(message) not in (3, 4):
            raise ValueError("not a request")
        if len(message) == 3 and message[0] == 2:  # a notification wants no answer
            return
        if len(message) != 4 or message[0] != 0 or not isinstance(message[1], int) or isinstance(message[1], bool):
            raise ValueError("not a request")
        _, number, name, arguments = message
        if not isinstance(name, str) or not isinstance(arguments, list):
            raise ValueError("not a request")
        if self._advances(name, arguments):
            self._start_stepper()
            self._steps.put((number, name, arguments))
            return
        error, result = self._call(name, arguments)
        if name == "add_traffic_manager_running" and result == [[1, True]]:
            self.managers.add(arguments[1][1])
        self._answer(number, error, result)
        self._note(name)

    def _note(self, name: str) -> None:
        if name == "get_vehicle_light_states":  # once in every step of the worker
            self._stepped_s = time.monotonic()
        elif name == "get_episode_settings":
            self._asked_s = time.monotonic()
            if self.managers and not self._is_synchronous():
                time.sleep(_IDLE_QUESTION_S)

    def _start_stepper(self) -> None:
        if self._stepper is None:
            self._stepper = threading.Thread(target=self._run_steps, name="rpc-steps", daemon=True)
            self._stepper.start()

    def _run_steps(self) -> None:
        while (step := self._steps.get()) is not None:
            number, name, arguments = step
            try:
                answer = self._call(name, arguments)
            except ConnectionAbortedError:
                with contextlib.suppress(OSError):
                    self._connection.shutdown(socket.SHUT_RDWR)
                return
            if self.managers:
                self._let_worker_wait()
            self._answer(number, *answer)

    def _let_worker_wait(self) -> None:
        end = time.monotonic() + _WAKE_LIMIT_S
        while (now := time.monotonic()) < end:
            if self._asked_s >= self._stepped_s:
                rest = self._asked_s + WAKE_GAP_S - now
                if rest <= 0:
                    return
                time.sleep(rest)
            else:
                time.sleep(0.0005)

    def _answer(self, number: int, error: Any, result: Any) -> None:
        try:
            reply = pack([1, number, error, result])
        except (TypeError, ValueError, OverflowError) as problem:
            sys.stderr.write(f"headless-simulator: an answer could not be packed: {problem}\n")
            reply = pack([1, number, f"the answer could not be packed: {problem}", None])
        with self._write_lock, contextlib.suppress(OSError):  # a client that left needs no answer
            self._connection.sendall(reply)
