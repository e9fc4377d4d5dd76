"""The RPC methods by name, a module per subject."""

from __future__ import annotations

from typing import Final

from headless_simulator.airsim.calls.flight import CALLS as FLIGHT
from headless_simulator.airsim.calls.objects import CALLS as OBJECTS
from headless_simulator.airsim.calls.pictures import CALLS as PICTURES
from headless_simulator.airsim.calls.plots import CALLS as PLOTS
from headless_simulator.airsim.calls.sensing import CALLS as SENSING
from headless_simulator.airsim.calls.table import Method, Table
from headless_simulator.airsim.calls.world import CALLS as WORLD

ALL: Final[Table] = {**WORLD, **FLIGHT, **SENSING, **PICTURES, **OBJECTS, **PLOTS}

__all__ = ["ALL", "Method", "Table"]
