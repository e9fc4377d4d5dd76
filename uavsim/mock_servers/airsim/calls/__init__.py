"""The RPC methods by name, a module per subject."""

from __future__ import annotations

from typing import Final

from uavsim.mock_servers.airsim.calls.flight import CALLS as FLIGHT
from uavsim.mock_servers.airsim.calls.objects import CALLS as OBJECTS
from uavsim.mock_servers.airsim.calls.pictures import CALLS as PICTURES
from uavsim.mock_servers.airsim.calls.plots import CALLS as PLOTS
from uavsim.mock_servers.airsim.calls.sensing import CALLS as SENSING
from uavsim.mock_servers.airsim.calls.table import Method, Table
from uavsim.mock_servers.airsim.calls.world import CALLS as WORLD

ALL: Final[Table] = {**WORLD, **FLIGHT, **SENSING, **PICTURES, **OBJECTS, **PLOTS}

__all__ = ["ALL", "Method", "Table"]
