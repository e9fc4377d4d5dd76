"""``uavsim ui`` and ``deploy``: the account's own Prefect server, and the flows for workers of any server."""

import signal
from typing import Annotated, Literal

import typer

from uavsim.errors import InputError
from uavsim.terminal import Screen, line


def ui(
    *, port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the web pages; if taken, a free one.")] = 4200
) -> None:
    """Run ``uavsim ui``."""
    from uavsim.flows.server import account_folder, account_server, open_runs

    screen = Screen()
    with account_server(port=port) as address:
        screen.print(line("Prefect's pages: ", ("bold", address.url)))
        screen.print(f"key, which the pages request once: {address.key}")
        screen.print(f"your runs report to it; its database is in {account_folder()}; Ctrl-C stops it")
        try:
            signal.pause()
        except KeyboardInterrupt:
            if runs := open_runs(address):
                screen.print(f"runs that continue without it: {', '.join(runs)}")
            screen.print("stopped; the records of the runs stay")


def deploy(
    *,
    pool: Annotated[str, typer.Option(help="Work pool; created if missing.")] = "uavsim",
    kind: Annotated[Literal["process", "docker", "kubernetes"], typer.Option(help="Kind of a new pool.")] = "process",
    cron: Annotated[str | None, typer.Option(help='Schedule of regenerate-mini, such as "0 3 * * 1".')] = None,
) -> None:
    """Run ``uavsim deploy``."""
    from uavsim.flows.server import check_api, configured_api_url

    url = configured_api_url()
    if url is None:
        raise InputError(
            "PREFECT_API_URL is not set: start a server (prefect server start) and set the variable to its URL"
        )
    check_api(url)
    from uavsim.flows.deploy import deploy as register_flows

    console = Screen()
    for name in register_flows(pool, kind=kind, cron=cron):
        console.print(line(("green", name), f" in work pool {pool}"))
    console.print(f"start workers: prefect worker start --pool {pool} --limit 1")
    request = '{"dataset": "smoke", "towns": ["Town10HD"], "out": "/data/smoke"}'
    console.print(f"run: prefect deployment run generate-town/uavsim -p 'request={request}'", markup=False)
