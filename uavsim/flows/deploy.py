"""Register the flows with a Prefect server for workers on any machine."""

import contextlib
from pathlib import Path
from typing import Final

from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.exceptions import ObjectAlreadyExists
from prefect.flows import Flow

from uavsim.flows.server import RETRIED

DEPLOYMENTS: Final = {
    "generate-dataset": "uavsim/flows/generate.py:generate_dataset",
    "generate-town": "uavsim/flows/generate.py:generate_town",
    "regenerate-mini": "uavsim/flows/generate.py:regenerate_mini",
    "assemble-dataset": "uavsim/flows/generate.py:assemble_dataset",
    "validate-dataset": "uavsim/flows/generate.py:validate_dataset",
}


def deploy(pool: str, *, kind: str = "process", cron: str | None = None) -> list[str]:
    """Create the work pool unless it exists, and a deployment ``<flow>/uavsim`` of every flow.

    Args:
        pool: name of the work pool.
        kind: process, docker or kubernetes.
        cron: schedule of ``regenerate-mini``; default: none.

    Returns:
        Names of the deployments.
    """
    with get_client(sync_client=True) as client, contextlib.suppress(ObjectAlreadyExists):
        client.create_work_pool(WorkPoolCreate(name=pool, type=kind))
    root = Path(__file__).resolve().parents[2]
    names = []
    for name, entrypoint in DEPLOYMENTS.items():
        flow = Flow.from_source(source=root, entrypoint=entrypoint)
        assert isinstance(flow, Flow), "a folder on this machine is loaded at once"
        flow.deploy(
            name="uavsim",
            work_pool_name=pool,
            cron=cron if name == "regenerate-mini" else None,
            tags=["uavsim", name],
            job_variables={"env": {"PREFECT_CLIENT_RETRY_EXTRA_CODES": str(RETRIED)}},
            print_next_steps=False,
            ignore_warnings=True,
        )
        names.append(f"{name}/uavsim")
    return names
