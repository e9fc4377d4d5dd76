"""Backends of uavsim and of other packages; an invalid one is refused with its line."""

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from uavsim import registry
from uavsim.config import backends
from uavsim.config.backends import BACKENDS, Backend, Server, backend_of, topologies
from uavsim.config.run import RunConfig
from uavsim.config.schema import schemas
from uavsim.errors import InputError, UnknownNameError
from uavsim.run.request import Request
from uavsim.run.resolve import resolve
from uavsim.simulate.session import open_session, ports_of

PAPER = Backend("paper", (Server("paper", "the paper simulator", 7000, clients=("json",), install="-"),), "json:loads")
OURS = ("carla", "bridge", "cosys", "merged")
NO_BACKEND = {"topology": "paper"}


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package with the backend ``paper``."""
    offer(monkeypatch, "tests.config.test_backends:PAPER")


def offer(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    entry = EntryPoint("paper", value, BACKENDS.group)
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry] if group == BACKENDS.group else [])
    builtin = {name: BACKENDS.pick(name) for name in OURS}
    fresh = registry.Registry("backends", builtin, what="topology", expects=Backend)
    monkeypatch.setattr(backends, "BACKENDS", fresh)


@pytest.mark.parametrize("topology", OURS)
def test_the_code_of_every_set_up_is_there(topology: str) -> None:
    assert backend_of(topology).topology == topology
    assert callable(ports_of(backend_of(topology)))


def test_a_wrong_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="unknown topology 'brige'; did you mean 'bridge'"):
        backend_of("brige")
    with pytest.raises(ValueError, match="did you mean 'bridge'"):
        RunConfig(topology="brige")


def test_a_packages_set_up_is_a_topology(plugin: None) -> None:
    assert topologies() == [*OURS, "paper"]
    assert backend_of("paper") is PAPER
    assert RunConfig(topology="paper").topology == "paper"
    assert schemas()["topology"]["enum"][-1] == "paper"


def test_a_packages_set_up_is_flown(plugin: None, tmp_path: Path) -> None:
    fields: dict[str, Any] = {
        "dataset": "smoke",
        "out": str(tmp_path),
        "scenes": "0",
        "samples": 1,
        "topology": "paper",
    }
    assert resolve(Request(**fields, simulators=("h:paper=7000",))).topology == "paper"
    with pytest.raises(InputError, match=r"needs the paper simulator: name its port, as --simulator h:paper=7000"):
        resolve(Request(**fields, simulators=("h:2000",)))
    with pytest.raises(InputError, match=r"needs the paper simulator: name its port"):  # no part of the headless one
        resolve(Request(**fields))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("tests.config.test_backends:NO_BACKEND", "is of type dict, not Backend"),
        ("tests.config.no_such_module:X", "does not load"),
        ("tests.config.test_backends:X", "does not load"),
    ],
)
def test_a_plug_ins_error_names_it_and_built_in_ones_still_work(
    monkeypatch: pytest.MonkeyPatch, value: str, words: str
) -> None:
    offer(monkeypatch, value)
    assert backend_of("carla").topology == "carla"
    with pytest.raises(InputError, match=words):
        backend_of("paper")


def test_sessions_name_the_server_that_is_missing() -> None:
    with pytest.raises(InputError, match="topology bridge needs CARLA: no endpoint carla"):
        open_session("bridge", {})


@pytest.mark.parametrize(
    "ports", ["uavsim.simulate.backends:brige", "uavsim.simulate.no_module:x", "uavsim.errors:__all__"]
)
def test_missing_code_is_refused(ports: str) -> None:
    with pytest.raises(InputError, match=r"topology x: .*(cannot be imported|is not a function)"):
        ports_of(Backend("x", (), ports))
