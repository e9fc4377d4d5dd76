"""``uavsim mock-sim``: start the headless simulator."""

from __future__ import annotations

import os
import sys

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to ``app``."""
    app.command(
        name="mock-sim",
        help="Serve CARLA's and AirSim's real protocols with no GPU (uavsim mock-sim --help for its options).",
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
    )(mock_sim)


def mock_sim(context: typer.Context) -> None:
    """Become the headless simulator's process: it is an island, so nothing of it is imported here."""
    os.execv(sys.executable, [sys.executable, "-m", "uavsim.mock_servers", *context.args])
