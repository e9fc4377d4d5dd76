"""Streets of the procedural towns, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from uavsim.mock_servers.towns.layouts import town10hd
from uavsim.mock_servers.towns.streets import Plan
from uavsim.mock_servers.towns.styles import URBAN, Style


@dataclass(frozen=True, slots=True)
class Layout:
    """How a town is made."""

    plan: Callable[[], Plan]
    style: Style


LAYOUTS: Final[dict[str, Layout]] = {
    "Town10HD": Layout(town10hd.plan, replace(URBAN, spawn_points=155)),
}
