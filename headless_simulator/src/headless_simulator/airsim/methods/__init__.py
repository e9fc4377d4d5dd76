"""The RPC methods by name, a module per subject."""

from __future__ import annotations

from typing import Final

from headless_simulator.airsim.methods.flight import CALLS as FLIGHT
from headless_simulator.airsim.methods.images import CALLS as IMAGES
from headless_simulator.airsim.methods.objects import CALLS as OBJECTS
from headless_simulator.airsim.methods.plots import CALLS as PLOTS
from headless_simulator.airsim.methods.sensing import CALLS as SENSING
from headless_simulator.airsim.methods.table import Method, Table
from headless_simulator.airsim.methods.world import CALLS as WORLD

ALL: Final[Table] = {**WORLD, **FLIGHT, **SENSING, **IMAGES, **OBJECTS, **PLOTS}

__all__ = ["ALL", "Method", "Table"]
