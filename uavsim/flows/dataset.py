"""``generate-dataset`` and ``regenerate-mini``: all towns of a dataset, one after the other, then its tables."""

from __future__ import annotations

from prefect import flow, tags

from uavsim.flows import context as contexts
from uavsim.flows.deploy import one_at_a_time
from uavsim.flows.request import Request
from uavsim.flows.stages import RunContext, SceneOutcome
from uavsim.flows.summary import DatasetSummary
from uavsim.flows.tables import finish_dataset
from uavsim.flows.town import TownSummary, fly_town, request_of_flow_run
from uavsim.flows.worker import of_worker

__all__ = ["generate_dataset", "generate_opened", "regenerate_mini"]

MINI = Request(dataset="uav3d-mini", out="data/uav3d-mini")


def _run_name() -> str:
    return request_of_flow_run().title


@flow(name="generate-dataset", flow_run_name=_run_name, validate_parameters=True)
def generate_dataset(request: Request) -> DatasetSummary:
    """Fly what is missing of a dataset, town by town so that maps are seldom loaded, and write its tables."""
    with contexts.opened(contexts.prepared(of_worker(request)), gate=one_at_a_time) as context:
        outcomes = _fly_towns(context)
    return DatasetSummary(outcomes, finish_dataset(of_worker(request)))


@flow(name="regenerate-mini", flow_run_name="{request.out}", validate_parameters=True)
def regenerate_mini(request: Request = MINI) -> DatasetSummary:
    """Make the mini split anew, or finish it: 20 scenes of Town10HD."""
    return generate_dataset(request)


def generate_opened(context: RunContext) -> DatasetSummary:
    """Run ``generate-dataset`` over a context that is open already: its simulators came up while Prefect's server did."""
    context.gate = one_at_a_time

    @flow(name="generate-dataset", flow_run_name=_run_name, validate_parameters=True)
    def generate(request: Request) -> DatasetSummary:
        del request  # for people to see; what it leaves out is nobody's business on a shared server
        outcomes = _fly_towns(context)
        context.pool.close()  # the validator's processes take the memory that simulators and clients had
        return DatasetSummary(outcomes, finish_dataset(context.request))

    return generate(context.request.model_copy(update={"run": None}))


def _fly_towns(context: RunContext) -> tuple[SceneOutcome, ...]:
    """Fly every town in a flow run of its own."""

    @flow(name="fly-town", flow_run_name=f"{context.job.dataset} {{town}} {context.request.scenes or 'all'}")
    def flow_of_town(town: str) -> TownSummary:
        return fly_town(context, town)

    outcomes: list[SceneOutcome] = []
    with tags(context.job.dataset):
        for town in context.job.towns:
            outcomes += flow_of_town(town).outcomes
    if context.failure is not None:
        raise context.failure
    return tuple(outcomes)
