"""Messages between client process and supervisor: one JSON object a line, a typed record at both ends.

    commands   {"cmd": "connect", "endpoints": {NAME: "HOST:PORT"}}, the first one to a worker without ``--endpoint``
               {"cmd": "probe"}  {"cmd": "fly", "plan": FILE, "out": FOLDER}  {"cmd": "quit"}
    events     {"event": "ready", "protocol", "client", "server", "map_name"}
               {"event": "heartbeat", "phase": connect|compile|load|spawn|swarm|warmup|fly, "tick": n}
               {"event": "sample", "scene", "sample", "samples", "images"}
               {"event": "woken", "frame"}
               {"event": "done", "scene", "recording", "vehicles", "vehicles_asked", "images"}
               {"event": "error", "kind", "message", "retry"}

A client process may run in its own environment, so the two ends may have different versions: ``ready`` names the worker's
protocol. Readers ignore unknown fields; an event of an unknown kind is only a sign of life (``UnknownEvent``); an event that
lacks a field is an error.
"""

import json
from dataclasses import asdict, dataclass, field
from typing import Annotated, Final, Literal

from pydantic import Field, TypeAdapter, ValidationError

from uavsim.errors import InputError, SimulatorError
from uavsim.files.parse import parse_json

PROTOCOL: Final = 1
"""Increases when a required field is added or a field changes its meaning."""


@dataclass(frozen=True, slots=True)
class ConnectCommand:
    """Connect to these servers, ``HOST:PORT`` by name."""

    endpoints: dict[str, str]
    cmd: Literal["connect"] = "connect"


@dataclass(frozen=True, slots=True)
class ProbeCommand:
    """Ask for a sign of life; the answer is ``ready``."""

    cmd: Literal["probe"] = "probe"


@dataclass(frozen=True, slots=True)
class FlyCommand:
    """Fly the plan in a file and write the recording into a folder."""

    plan: str
    out: str
    cmd: Literal["fly"] = "fly"


@dataclass(frozen=True, slots=True)
class QuitCommand:
    """Close the session and exit."""

    cmd: Literal["quit"] = "quit"


@dataclass(frozen=True, slots=True)
class ClientReady:
    """The client process is connected.

    Attributes:
        client: version of the client.
        server: version of the server.
        map_name: the loaded map.
        protocol: version of the worker's protocol; 0 if it names none.
    """

    client: str
    server: str
    map_name: str = ""
    protocol: int = 0
    event: Literal["ready"] = "ready"


@dataclass(frozen=True, slots=True)
class Progress:
    """A heartbeat."""

    phase: str
    tick: int
    event: Literal["heartbeat"] = "heartbeat"


@dataclass(frozen=True, slots=True)
class SampleTaken:
    """A capture is recorded; the counts are of the scene so far."""

    scene: str
    sample: int
    samples: int
    images: int
    event: Literal["sample"] = "sample"


@dataclass(frozen=True, slots=True)
class SceneFlown:
    """A scene's recording is on disk."""

    scene: str
    recording: str
    vehicles: int
    vehicles_asked: int
    images: int
    event: Literal["done"] = "done"


@dataclass(frozen=True, slots=True)
class Woken:
    """The client hung in a tick and was woken; see ``hang_watch``."""

    frame: int
    event: Literal["woken"] = "woken"


@dataclass(frozen=True, slots=True)
class Failure:
    """The client process ends with an error; ``kind`` is a class of ``uavsim.errors``."""

    kind: str
    message: str
    retry: bool
    event: Literal["error"] = "error"


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """An event of a kind that this version does not know."""

    event: str
    fields: dict[str, object] = field(default_factory=dict)


Command = ConnectCommand | ProbeCommand | FlyCommand | QuitCommand
KnownEvent = ClientReady | Progress | SampleTaken | Woken | SceneFlown | Failure
ClientEvent = KnownEvent | UnknownEvent

_COMMANDS: Final[TypeAdapter[Command]] = TypeAdapter(Annotated[Command, Field(discriminator="cmd")])
_EVENTS: Final[TypeAdapter[KnownEvent]] = TypeAdapter(Annotated[KnownEvent, Field(discriminator="event")])
_MOST_NESTED: Final = 16  # our events have three levels; the log writer recurses
_KINDS: Final = {"ready", "heartbeat", "sample", "woken", "done", "error"}


def to_line(record: Command | KnownEvent) -> str:
    """Encode a command or an event as a line without its end."""
    return json.dumps(asdict(record))


def fields_of(event: ClientEvent) -> dict[str, object]:
    """Return an event's fields without its kind, for a log."""
    return {key: value for key, value in asdict(event).items() if key != "event"}


def parse_command(line: str) -> Command:
    """Parse a command.

    Raises:
        InputError: this worker does not know the command.
    """
    try:
        return _COMMANDS.validate_json(line)
    except ValidationError as error:
        raise InputError(
            f"the client process does not know the command {line.strip()[:200]}: {_first(error)}"
        ) from error


def parse_event(line: bytes) -> ClientEvent | None:
    """Parse an event; None for any other line, because vendors' libraries print to the same stream.

    Raises:
        SimulatorError: an event of a known kind lacks a field, or a field has another type.
    """
    try:
        value = parse_json(line)
    except ValueError:
        return None
    kind = value.get("event") if isinstance(value, dict) else None
    if not isinstance(kind, str):
        return None
    if not _is_nested_at_most(value, _MOST_NESTED):
        return None
    if kind not in _KINDS:
        return UnknownEvent(kind, {key: item for key, item in value.items() if key != "event"})
    try:
        return _EVENTS.validate_python(value)
    except ValidationError as error:
        raise SimulatorError(f"the client process sent a bad {kind!r} event: {_first(error)}") from error


def _is_nested_at_most(value: object, most: int) -> bool:
    inside = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return most > 0 and all(_is_nested_at_most(item, most - 1) for item in inside)


def _first(error: ValidationError) -> str:
    detail = error.errors(include_url=False)[0]
    location = ".".join(str(step) for step in detail["loc"])
    return f"{location}: {detail['msg']}" if location else detail["msg"]
