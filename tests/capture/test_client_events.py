"""Messages between client process and supervisor."""

import dataclasses
import json

import pytest

from uavsim.capture import client_events
from uavsim.capture.client_events import (
    ClientReady,
    ConnectCommand,
    Failure,
    FlyCommand,
    ProbeCommand,
    Progress,
    QuitCommand,
    SampleTaken,
    SceneFlown,
    UnknownEvent,
    fields_of,
    parse_command,
    parse_event,
    to_line,
)
from uavsim.errors import InputError, SimulatorError

EVENTS = [
    ClientReady("0.9.16", "0.9.16", "Town06", protocol=1),
    Progress("fly", 3),
    SampleTaken("s", 1, 2, 25),
    SceneFlown("s", "staging/s", 90, 200, 50),
    Failure("SceneVoid", "a drone left", retry=True),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda e: e.event)
def test_events_round_trip(event) -> None:
    assert parse_event(to_line(event).encode()) == event


@pytest.mark.parametrize(
    "command",
    [ConnectCommand({"carla": "h:1"}), ProbeCommand(), FlyCommand("p", "o"), QuitCommand()],
    ids=lambda c: c.cmd,
)
def test_commands_round_trip(command) -> None:
    assert parse_command(to_line(command)) == command


@pytest.mark.parametrize("line", [b"WARNING: no LOD", b"", b"7", b'{"level": "info"}', b'{"event": 3}', b"\xff\xfe"])
def test_other_output_is_no_event(line: bytes) -> None:
    assert parse_event(line) is None


@pytest.mark.parametrize("depth", [50, 400, 200_000])
@pytest.mark.parametrize("kind", ["ready", "of a later version"])
def test_deeply_nested_line_is_no_event(kind: str, depth: int) -> None:
    assert parse_event(b'{"event": "%s", "x": %s1%s}' % (kind.encode(), b"[" * depth, b"]" * depth)) is None


def test_unknown_events_and_fields_are_accepted() -> None:
    assert parse_event(b'{"event": "battery", "left": 0.5}') == UnknownEvent("battery", {"left": 0.5})
    assert parse_event(b'{"event": "heartbeat", "phase": "fly", "tick": 1, "fps": 3}') == Progress("fly", 1)


@pytest.mark.parametrize("event", EVENTS, ids=lambda e: e.event)
def test_missing_field_is_an_error(event) -> None:
    needed = [f.name for f in dataclasses.fields(event) if f.default is dataclasses.MISSING]
    for name in needed:
        values = json.loads(to_line(event))
        del values[name]
        with pytest.raises(SimulatorError, match=rf"bad '{event.event}' event: .*{name}") as caught:
            parse_event(json.dumps(values).encode())
        assert "\n" not in str(caught.value)


def test_worker_without_a_protocol_number_has_protocol_0() -> None:
    assert parse_event(b'{"event": "ready", "client": "a", "server": "b", "map": "c"}') == ClientReady("a", "b")


@pytest.mark.parametrize("line", ['{"cmd": "dance"}', "{}", "nonsense", '{"cmd": "fly", "plan": "p"}'])
def test_unknown_commands_are_refused(line: str) -> None:
    with pytest.raises(InputError, match="does not know the command"):
        parse_command(line)


def test_fields_for_a_log() -> None:
    assert fields_of(Progress("fly", 1)) == {"phase": "fly", "tick": 1}
    assert client_events.PROTOCOL == 1
