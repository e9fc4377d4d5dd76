"""Which vendor's client a topology needs beside CARLA's, and what to run where it is not installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Final

from uavsim.errors import InputError
from uavsim.records.plan import Topology

__all__ = ["AIRSIM_INSTALL", "check_client"]

AIRSIM_TOPOLOGIES: Final[frozenset[Topology]] = frozenset({"bridge", "merged"})
# airsim's source package imports numpy and msgpackrpc while it builds and asks for an RPC package that is quadratic on images.
AIRSIM_INSTALL: Final = (
    "pip install rpc-msgpack==0.6 setuptools wheel && pip install --no-build-isolation --no-deps airsim==1.8.1"
)


def check_client(topology: Topology, *, is_there: Callable[[str], object] = importlib.util.find_spec) -> None:
    """Refuse a topology whose client this interpreter does not have; imports nothing.

    Args:
        topology: what is to be flown.
        is_there: finds a package by name; None when it is absent.

    Raises:
        InputError: AirSim's client or its RPC package is missing; the message is the command that installs both.
    """
    if topology in AIRSIM_TOPOLOGIES and not all(is_there(package) for package in ("airsim", "msgpackrpc")):
        raise InputError(f"topology {topology} needs AirSim's client, which is not installed: {AIRSIM_INSTALL}")
