import subprocess
import sys

import pytest

from uavsim.errors import InputError
from uavsim.records.plan import Topology
from uavsim.simulate.clients import check_client


@pytest.mark.parametrize("topology", ["bridge", "merged"])
def test_a_topology_with_airsim_names_the_command_that_installs_its_client(topology: Topology) -> None:
    with pytest.raises(InputError, match=r"needs AirSim's client.*--no-build-isolation --no-deps airsim==1\.8\.1$"):
        check_client(topology, is_there=lambda _: None)


def test_half_an_installation_is_none() -> None:
    with pytest.raises(InputError, match="not installed"):
        check_client("bridge", is_there=lambda package: package == "airsim" or None)


def test_carla_alone_needs_nothing() -> None:
    check_client("carla", is_there=lambda _: None)


# What `pip install uavsim` gives: an interpreter in which airsim cannot be imported.
WITHOUT_AIRSIM = """
import importlib.util, sys
sys.modules.update(airsim=None, msgpackrpc=None)
import uavsim, uavsim.cli, uavsim.capture.client_worker, uavsim.flows.dataset, uavsim.flows.doctor
uavsim.cli.build_app()
assert not [name for name in sys.modules if name.startswith(("airsim", "msgpackrpc")) and sys.modules[name]]
"""


def test_nothing_but_a_flight_with_airsim_imports_its_client() -> None:
    subprocess.run([sys.executable, "-c", WITHOUT_AIRSIM], check=True, timeout=120)
