"""``uavsim ui``: the account's own Prefect server, to look at runs in a browser."""

import signal
from typing import Annotated

import typer

from uavsim.terminal import Screen, line


def ui(
    *, port: Annotated[int, typer.Option(min=1, max=65535, help="Port of its pages; if taken, a free one.")] = 4200
) -> None:
    """Run ``uavsim ui``."""
    from uavsim.flows.server import account_folder, account_server, open_runs

    screen = Screen()
    with account_server(port=port) as address:
        screen.print(line("Prefect's pages: ", ("bold", address.url)))
        screen.print(f"key, which they ask for once: {address.key}")
        screen.print(f"runs use it while it is up; its database is in {account_folder()}; Ctrl-C ends it")
        try:
            signal.pause()
        except KeyboardInterrupt:
            if runs := open_runs(address):
                screen.print(f"runs that use it and go on without it: {', '.join(runs)}")
            screen.print("ended; the runs are kept")
