"""Checks of simulators before a run starts."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests import rpc_ports
from uavsim.config.run import RunConfig
from uavsim.errors import SimulatorError
from uavsim.flows import command
from uavsim.flows.command import generate
from uavsim.run import context
from uavsim.run.request import Request
from uavsim.terminal import Screen

Paper = Callable[..., Request]


def at_port(request: Request, port: int) -> Request:
    """Return the request with its simulator attached at another port."""
    assert isinstance(request.run, RunConfig)
    simulators = (request.run.simulators[0].model_copy(update={"ports": {"carla": port}}),)
    return request.model_copy(update={"run": request.run.model_copy(update={"simulators": simulators})})


@pytest.mark.parametrize(
    ("serve", "words"),
    [
        (rpc_ports.rpc(getServerVersion=1), r"is answered by AirSim \(protocol 1\); expected CARLA"),
        (rpc_ports.rpc(version=[[1, "0.9.14"]]), r"is CARLA 0\.9\.14; supported are 0\.9\.16"),
    ],
)
def test_another_program_at_the_port_is_refused_before_anything_starts(
    paper: Paper, serve: rpc_ports.Serve, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("nothing has to start for a simulator that is none")

    monkeypatch.setattr(command, "configured_api_url", lambda: None)
    monkeypatch.setattr(command, "account_address", lambda: None)
    monkeypatch.setattr(context, "SimulatorSlot", refuse)
    with rpc_ports.listening(serve) as where, pytest.raises(SimulatorError, match=words):
        generate(at_port(paper(scenes="1"), where.port), console=Screen(quiet=True))
    assert not (tmp_path / "out").exists()
