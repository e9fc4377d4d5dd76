"""The command line: one module per job; every error of ours is one line and an exit code.

Exit codes: 0 good, 1 our own mistake, 2 bad input, 3 simulator or system, 4 data set not valid.
"""

from __future__ import annotations

import os
import sys

import typer
from rich.console import Console
from rich.markup import escape

from uavsim.cli import configs, dataset, deploy, doctor, generate, judge, simulator, status
from uavsim.errors import UavsimError

__all__ = ["app", "main"]

app = typer.Typer(
    name="uavsim",
    help="YAML in, labelled multi-drone data sets out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
for part in (configs, dataset, deploy, doctor, generate, judge, simulator, status):
    part.register(app)


def main() -> None:
    """Run the command line; our errors become one line on stderr and their exit code."""
    os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
    try:
        app()
    except UavsimError as error:
        Console(stderr=True, soft_wrap=True).print(f"[bold red]error:[/] {escape(str(error))}", highlight=False)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
