"""``uavsim deploy``: make the flows known to a Prefect server."""

from typing import Annotated, Literal

import typer

from uavsim.errors import InputError
from uavsim.terminal import Screen, line


def deploy(
    *,
    pool: Annotated[str, typer.Option(help="Work pool; created if missing.")] = "uavsim",
    kind: Annotated[Literal["process", "docker", "kubernetes"], typer.Option(help="Kind of a new pool.")] = "process",
    cron: Annotated[str | None, typer.Option(help='Schedule of regenerate-mini, as "0 3 * * 1".')] = None,
) -> None:
    """Run ``uavsim deploy``."""
    from uavsim.flows.server import check_api, configured_api_url

    url = configured_api_url()
    if url is None:
        raise InputError("no Prefect server is named: start one (prefect server start) and set PREFECT_API_URL")
    check_api(url)
    from uavsim.flows.deploy import deploy as register_flows

    console = Screen()
    for name in register_flows(pool, kind=kind, cron=cron):
        console.print(line(("green", name), f" in work pool {pool}"))
    console.print(f"start workers: prefect worker start --pool {pool} --limit 1")
    request = '{"dataset": "smoke", "towns": ["Town10HD"], "out": "/data/smoke"}'
    console.print(f"run: prefect deployment run generate-town/uavsim -p 'request={request}'", markup=False)
