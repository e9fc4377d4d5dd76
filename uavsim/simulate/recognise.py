"""Identify the server at a port before a vendor's client connects: a client that meets a foreign server hangs or aborts.

It sends one msgpack-RPC request that CARLA and AirSim answer at any time, and classifies the reply. Every step has a time
limit, so a silent port costs seconds. Source of the requests: CARLA's and AirSim's servers (both on rpclib); NNG's greeting:
the SP protocol's mapping to TCP.
"""

import socket
import time
from dataclasses import dataclass
from typing import Any, Final, Literal

import msgpack

from uavsim.errors import SimulatorError
from uavsim.simulate.ports import Endpoint

Kind = Literal["carla", "airsim", "cosys", "nng", "rpc", "http", "text", "bytes", "silent", "closed", "none"]
_CONNECT_S: Final = 3.0
_ANSWER_S: Final = 3.0
_QUESTIONS: Final = {"carla": ("version", [[False]]), "airsim": ("getServerVersion", [])}
_COSYS_SINCE: Final = 2  # AirSim always answers 1, Cosys-AirSim 4
_NNG_GREETING: Final = b"\0SP\0"
_LONGEST: Final = 65536
_MOST_SHOWN: Final = 40
_WANTED: Final = {"carla": "CARLA", "airsim": "AirSim", "cosys": "Cosys-AirSim"}


@dataclass(frozen=True, slots=True)
class Answerer:
    """The identity of the server at a port.

    Attributes:
        kind: kind of the server.
        detail: its version, or its reply.
    """

    kind: Kind
    detail: str = ""

    def __str__(self) -> str:
        names = {
            "carla": f"CARLA {self.detail}",
            "airsim": f"AirSim (protocol {self.detail})",
            "cosys": f"Cosys-AirSim (protocol {self.detail})",
            "nng": "Project AirSim, or another program that speaks NNG",
            "rpc": f"a msgpack-RPC server that is neither CARLA nor AirSim ({self.detail})",
            "http": f"a web server ({self.detail})",
            "text": f"a program that sends {self.detail!r}",
            "bytes": f"a program of another protocol (its first bytes are {self.detail})",
            "silent": "a program that sends nothing",
            "closed": "a program that closes the connection",
            "none": f"no server ({self.detail})",
        }
        return names[self.kind]

    @property
    def advice(self) -> str:
        """Return the remedy for an unexpected server."""
        if self.kind == "carla":
            return "CARLA belongs to port carla of any topology; swap the two ports"
        if self.kind == "airsim":
            return "AirSim belongs to port airsim of topology bridge, or of merged in a merged build"
        if self.kind == "cosys":
            return "Cosys-AirSim belongs to topology cosys"
        if self.kind == "nng":
            return "no topology supports it; see docs/airsim-variants.md"
        if self.kind in {"none", "silent", "closed"}:
            return "start the simulator, or correct its port"
        return "correct its port; the defaults are 2000 for CARLA and 41451 for AirSim"


def recognise(where: Endpoint, *, expected: str = "carla") -> Answerer:
    """Identify the server at a port, within seconds.

    Args:
        where: host and port.
        expected: server to ask first: carla, or any other value for AirSim.
    """
    order = sorted(_QUESTIONS, key=lambda name: name != ("carla" if expected == "carla" else "airsim"))
    found = Answerer("silent")
    for name in order:
        found = _named(name, _exchange(where, _question(name)))
        if found.kind != "rpc":
            break
    if found.kind in {"silent", "closed"}:
        web = _exchange(where, b"GET / HTTP/1.0\r\n\r\n")
        if isinstance(web, bytes) and web.startswith(b"HTTP/"):
            return _of_bytes(web)
    return found


def carla_version(where: Endpoint) -> str:
    """Return the version of the CARLA server at a port; "" if there is none."""
    found = _named("carla", _exchange(where, _question("carla")))
    return found.detail if found.kind == "carla" else ""


def require(kind: Literal["carla", "airsim", "cosys"], where: Endpoint) -> Answerer:
    """Check that a server of a kind answers.

    Raises:
        SimulatorError: another server answers, or none; one line with its identity and the remedy.
    """
    found = recognise(where, expected=kind)
    if found.kind != kind:
        at = f"{where.host}:{where.port}"
        what = f"no simulator at {at}: {found.detail}" if found.kind == "none" else f"{at} is answered by {found}"
        raise SimulatorError(f"{what}; expected {_WANTED[kind]}: {found.advice}")
    return found


def _question(name: str) -> bytes:
    return bytes(msgpack.packb([0, 1, *_QUESTIONS[name]]))


def _exchange(where: Endpoint, question: bytes) -> bytes | Answerer:
    """Send bytes and return the reply, complete if it is a msgpack message."""
    try:
        connection = socket.create_connection((where.host, where.port), timeout=_CONNECT_S)
    except OSError as error:
        return Answerer("none", (error.strerror or str(error) or "no answer").lower())
    with connection:
        end, reply = time.monotonic() + _ANSWER_S, b""
        try:
            connection.sendall(question)
            while len(reply) < _LONGEST and (piece := _piece(connection, end=end)):
                reply += piece
                if _message(reply) is not None or not reply.startswith(b"\x94"):
                    break
        except TimeoutError:
            return reply or Answerer("silent")
        except OSError:
            return reply or Answerer("closed")
    return reply or Answerer("closed")


def _piece(connection: socket.socket, *, end: float) -> bytes:
    """Receive bytes until ``end``; a port that sends byte by byte gets no more time."""
    connection.settimeout(max(end - time.monotonic(), 0.001))
    return connection.recv(4096)


def _message(reply: bytes) -> list[Any] | None:
    try:
        message = msgpack.unpackb(reply, strict_map_key=False, unicode_errors="replace")
    except (ValueError, msgpack.exceptions.UnpackException):
        return None
    return message if isinstance(message, list) and len(message) == 4 and message[0] == 1 else None


def _named(question: str, reply: bytes | Answerer) -> Answerer:
    if isinstance(reply, Answerer):
        return reply
    message = _message(reply)
    if message is None:
        return _of_bytes(reply)
    _, _, error, result = message
    if error is not None:
        return Answerer("rpc", _printable(str(error)))
    if question == "airsim" and isinstance(result, int):
        return Answerer("cosys" if result >= _COSYS_SINCE else "airsim", str(result))
    version = _carla_version(result)
    return Answerer("carla", version) if question == "carla" and version else Answerer("rpc", _printable(str(result)))


def _carla_version(result: Any) -> str:
    """Decode ``Response<string>``, ``[[1, value]]``; "" if it is none."""
    while isinstance(result, list) and result:
        result = result[-1]
    return result if isinstance(result, str) and result[:1].isdigit() else ""


def _of_bytes(reply: bytes) -> Answerer:
    if reply.startswith(_NNG_GREETING):
        return Answerer("nng")
    line = reply.splitlines()[0] if reply.splitlines() else b""
    text = line.decode("ascii", "replace")
    if text.startswith("HTTP/"):
        return Answerer("http", _printable(text))
    if text and text.isprintable() and text.isascii():
        return Answerer("text", _printable(text))
    return Answerer("bytes", reply[:8].hex(" "))


def _printable(text: str) -> str:
    printable = "".join(letter if letter.isprintable() else "?" for letter in text)
    return printable if len(printable) <= _MOST_SHOWN else printable[: _MOST_SHOWN - 3] + "..."
