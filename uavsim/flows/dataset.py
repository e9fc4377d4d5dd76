"""The flows: what ``uavsim generate`` runs, and what workers run that a deployment calls."""

from prefect import flow, tags

from uavsim.errors import DatasetError, InputError
from uavsim.flows.deploy import one_at_a_time
from uavsim.flows.front import PrefectFront, step_of
from uavsim.on_top import ON_TOP
from uavsim.run import finish
from uavsim.run.context import opened, prepared
from uavsim.run.executor import execute
from uavsim.run.finish import ValidationSummary
from uavsim.run.request import OutputRequest, Request
from uavsim.run.result import Summary
from uavsim.run.stages import RunContext
from uavsim.run.worker import of_worker

__all__ = [
    "assemble_dataset",
    "generate_dataset",
    "generate_opened",
    "generate_town",
    "regenerate_mini",
    "validate_dataset",
]

MINI = Request(dataset="uav3d-mini", out="data/uav3d-mini")


def _run_name() -> str:
    from prefect.runtime import flow_run

    return Request.model_validate(flow_run.parameters["request"]).title  # from a server it comes as JSON


@flow(name="generate-dataset", flow_run_name=_run_name, validate_parameters=True)
def generate_dataset(request: Request) -> Summary:
    """Fly what is missing of a dataset, town by town so that maps are seldom loaded, write its tables, validate it."""
    with opened(prepared(of_worker(request), ON_TOP), gate=one_at_a_time) as context, tags(context.job.dataset):
        return execute(context, PrefectFront(context))


@flow(name="generate-town", flow_run_name=_run_name, validate_parameters=True)
def generate_town(request: Request) -> Summary:
    """Fly what is missing of one town: several workers share a dataset by its towns.

    Raises:
        InputError: the request names no town, or several.
    """
    if len(request.towns) != 1:
        raise InputError(
            f"generate-town flies one town; towns has {len(request.towns)} (generate-dataset flies several)"
        )
    with opened(prepared(of_worker(request), ON_TOP), gate=one_at_a_time) as context, tags(context.job.dataset):
        return execute(context, PrefectFront(context))


@flow(name="regenerate-mini", flow_run_name="{request.out}", validate_parameters=True)
def regenerate_mini(request: Request = MINI) -> Summary:
    """Make the mini split anew, or finish it: 20 scenes of Town10HD."""
    return generate_dataset(request)


@flow(name="assemble-dataset", flow_run_name="{request.out}", validate_parameters=True)
def assemble_dataset(request: OutputRequest) -> list[str]:
    """Write all tables from the scenes that are committed; may be repeated at any time."""
    output = of_worker(request).output()
    return step_of(request.out)("assemble-tables", lambda: finish.assemble_tables(output))


@flow(name="validate-dataset", flow_run_name="{request.out}", validate_parameters=True)
def validate_dataset(request: OutputRequest) -> ValidationSummary:
    """Validate a dataset by what is on disk; fails when it is not valid.

    Raises:
        DatasetError: it is not; the artifact lists the findings.
    """
    output = of_worker(request).output()
    if not output.is_local:
        raise InputError(f"{output.address}: the validator reads a local disk; copy the dataset, or mount it")
    summary = step_of(request.out)("validate", lambda: finish.validate(output.root, pixels=request.pixels))
    if not summary.ok:
        first = summary.lines[0] if summary.lines else "?"
        raise DatasetError(f"{request.out}: {summary.errors} errors, first: {first}")
    return summary


def generate_opened(context: RunContext) -> Summary:
    """Run ``generate-dataset`` over a context that is open already: its simulators came up while Prefect's server did."""
    context.gate = one_at_a_time

    @flow(name="generate-dataset", flow_run_name=_run_name, validate_parameters=True)
    def generate(request: Request) -> Summary:
        del request  # for people to see; what it leaves out is nobody's business on a shared server
        with tags(context.job.dataset):
            return execute(context, PrefectFront(context))

    return generate(context.request.model_copy(update={"run": None}))
