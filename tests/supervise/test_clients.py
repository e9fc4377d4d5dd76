"""A missing client gives a one-line error before the start, in this interpreter or another one."""

import importlib.util
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import uavsim
from uavsim.config.backends import backend_of
from uavsim.config.run import RunConfig, SimulatorConfig
from uavsim.environment import pip_install
from uavsim.errors import InputError
from uavsim.run.request import Request
from uavsim.run.resolve import resolve
from uavsim.supervise.clients import check_clients


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an interpreter without packages."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a separate environment with this environment's packages."""
    folder = tmp_path_factory.mktemp("furnished")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    site = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    paths = (sysconfig.get_paths()["purelib"], str(Path(uavsim.__file__).parents[1]))
    (site / "here.pth").write_text("\n".join(paths) + "\n")
    return folder / "bin" / "python"


def without(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in modules else find(name))


def test_everything_is_here() -> None:
    for topology in ("carla", "bridge", "merged"):
        check_clients(backend_of(topology))


@pytest.mark.parametrize("module", ["airsim", "msgpackrpc"])
def test_no_airsim_is_no_matter_for_topology_carla(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    without(monkeypatch, module)
    check_clients(backend_of("carla"))
    with pytest.raises(InputError, match=rf"topology bridge needs AirSim's client.*{module}.*scripts/setup ours"):
        check_clients(backend_of("bridge"))


def test_a_request_is_refused_before_anything_starts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without(monkeypatch, "airsim")
    request = Request(dataset="smoke", out=str(tmp_path / "out"), scenes="0", samples=1, topology="merged")
    with pytest.raises(InputError, match="scripts/setup ours") as caught:
        resolve(request)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_another_interpreter_is_asked(bare: Path, furnished: Path) -> None:
    check_clients(backend_of("bridge"), python=str(furnished))
    with pytest.raises(InputError, match=r"CARLA's client, and .*/bare.* has no module 'carla'") as caught:
        check_clients(backend_of("carla"), python=str(bare))
    assert str(caught.value).endswith(f"{pip_install(str(bare))} carla==0.9.16")
    assert "pip" in pip_install(str(bare))


def test_a_request_names_the_interpreter_of_one_simulator(bare: Path) -> None:
    other = SimulatorConfig(client_python=str(bare))
    request = Request(
        dataset="smoke", out="o", scenes="0", samples=1, run=RunConfig(simulators=(SimulatorConfig(), other))
    )
    with pytest.raises(InputError, match="has no module 'carla'"):
        resolve(request)


def test_an_interpreter_that_is_not_there() -> None:
    with pytest.raises(InputError, match=r"client_python /no/python: No such file"):
        check_clients(backend_of("carla"), python="/no/python")


def test_a_file_that_is_no_interpreter_is_refused() -> None:
    with pytest.raises(InputError, match=r"client_python /bin/false: ended with code 1"):
        check_clients(backend_of("carla"), python="/bin/false")
