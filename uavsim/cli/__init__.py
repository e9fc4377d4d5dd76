"""The command line: one module per job; every error of ours is one line and an exit code.

Exit codes: 0 good, 1 our own mistake, 2 bad input, 3 simulator or system, 4 data set not valid.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Final

import typer
from rich.console import Console
from rich.markup import escape

from uavsim.errors import UavsimError

__all__ = ["build_app", "main"]

_HOME: Final = {  # command -> module; a module is imported when its command is asked for, because scipy and Prefect are slow
    "generate": "generate",
    "regenerate": "generate",
    "status": "status",
    "plan": "configs",
    "check": "configs",
    "schema": "configs",
    "annotate": "dataset",
    "convert": "dataset",
    "export": "dataset",
    "validate": "validate",
    "evaluate": "evaluate",
    "mock-sim": "simulator",
    "airsim-settings": "simulator",
    "calibrate": "simulator",
    "doctor": "doctor",
    "deploy": "deploy",
}


def build_app(command: str | None = None) -> typer.Typer:
    """Return the command line with the module of one command, or with all when none or an unknown one is asked for."""
    app = typer.Typer(
        name="uavsim",
        help="YAML in, labelled multi-drone data sets out.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )
    app.callback()(_nothing)  # keeps a single command a sub-command
    wanted = [_HOME[command]] if command in _HOME else list(dict.fromkeys(_HOME.values()))
    for module in wanted:
        importlib.import_module(f"uavsim.cli.{module}").register(app)
    return app


def _nothing() -> None:
    """YAML in, labelled multi-drone data sets out."""


def main() -> None:
    """Run the command line; our errors become one line on stderr and their exit code."""
    os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
    try:
        build_app(sys.argv[1] if len(sys.argv) > 1 else None)()
    except UavsimError as error:
        Console(stderr=True, soft_wrap=True).print(f"[bold red]error:[/] {escape(str(error))}", highlight=False)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
