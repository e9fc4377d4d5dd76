"""Versions of CARLA: served with the client of their own environment, or refused as the docs quote."""

from pathlib import Path

import pytest

from uavsim.errors import SimulatorError
from uavsim.simulate import versions
from uavsim.simulate.versions import CLIENT_VERSION, client_python, refuse_other_client, refuse_unserved

PAGE = (Path(__file__).parents[2] / "docs/simulators.md").read_text()
SERVER = "127.0.0.1:2000"


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Environments that scripts/setup made."""
    environments: list[str] = []
    monkeypatch.setattr(versions, "beside", lambda name: f"/opt/{name}/bin/python" if name in environments else "")
    return environments


@pytest.mark.parametrize("version", [CLIENT_VERSION, f"{CLIENT_VERSION}-dirty", f"{CLIENT_VERSION}-2-gabc"])
def test_builds_of_the_same_version_are_accepted(version: str, beside: list[str]) -> None:
    refuse_unserved(version, where=SERVER)
    refuse_other_client(CLIENT_VERSION, server=version, where=SERVER, python="python3")
    assert client_python(version) == ""


def test_other_version_uses_its_clients_environment(beside: list[str]) -> None:
    beside.append(".venv-carla-0.9.15")
    refuse_unserved("0.9.15-dirty", where=SERVER)
    assert client_python("0.9.15-dirty") == "/opt/.venv-carla-0.9.15/bin/python"


@pytest.mark.parametrize("version", ["0.9.15", "0.10.0", "0.9.160", "0.9.14"])
def test_version_without_a_client_is_refused(version: str, beside: list[str]) -> None:
    with pytest.raises(SimulatorError) as refused:
        refuse_unserved(version, where=SERVER)
    assert version == "0.9.160" or str(refused.value) in PAGE


def test_client_of_another_version_is_refused() -> None:
    with pytest.raises(SimulatorError) as refused:
        refuse_other_client("0.9.16", server="0.9.15", where=SERVER, python="python")
    assert str(refused.value) in PAGE
