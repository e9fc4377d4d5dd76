"""The flows and tasks of a run.

The order::

    generate_dataset
        generate_town       for each town
            fly_scene       for each scene: fly, label, commit; in parallel
        assemble
        label               for each further label of the dataset (occupancy)
        contact_sheet       beside validate
        validate

``run.call`` and ``run.submit`` (``runs.py``) run them as flow runs and task runs if the run has a Prefect server, else as
undecorated functions. Parameters are requests, names and paths, never simulator clients or pixels.
"""

from pathlib import Path

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.runtime import flow_run
from prefect.tasks import Task

from uavsim.errors import DatasetError, InputError
from uavsim.flows.artifacts import begin_progress, show_progress, show_scenes, show_sheet, show_validation
from uavsim.flows.runs import Run, current_run, in_run, run_of
from uavsim.run import finish, stages
from uavsim.run.finish import Finished, ValidationSummary
from uavsim.run.outcome import SceneOutcome
from uavsim.run.request import OutputRequest, Request
from uavsim.run.result import Summary
from uavsim.run.town_scenes import TownScenes, may_retry, retry_delays_s
from uavsim.run.worker import of_worker

MINI = Request(dataset="uav3d-mini", out="data/uav3d-mini")


def _title() -> str:
    return Request.model_validate(flow_run.parameters["request"]).title  # from a server the request comes as JSON


@flow(name="generate-dataset", flow_run_name=_title)
def generate_dataset(request: Request) -> Summary:
    """Fly the missing scenes of a dataset town by town, write its tables, draw its contact sheet, validate it."""
    with run_of(request) as run:
        outcomes: list[SceneOutcome] = []
        for town in run.context.job.towns:
            outcomes += run.call(generate_town, run.request_of_town(town)).outcomes
        run.summary = Summary(tuple(outcomes), finish_dataset(run))
        return run.summary


@flow(name="generate-town", flow_run_name=_title)
def generate_town(request: Request) -> Summary:
    """Fly the missing scenes of one town. As a deployment it also finishes the dataset: workers share one by its towns.

    Raises:
        InputError: the request names no town, or several.
    """
    if len(request.towns) != 1:
        raise InputError(
            f"generate-town flies one town; towns has {len(request.towns)} (generate-dataset flies several)"
        )
    is_deployment = not in_run()
    with run_of(request) as run:
        title = f"{run.context.job.dataset} {request.towns[0]}"
        scenes = TownScenes(run.context, request.towns[0])
        delays_s = retry_delays_s(run.context.run)
        fly = fly_scene.with_options(retries=len(delays_s), retry_delay_seconds=delays_s)
        progress = run.show(begin_progress, title)
        for names in scenes.rounds():
            flights = {name: run.submit(fly, scene=name) for name in names}
            for name, flight in flights.items():
                scenes.note(name, flight.wait())
                run.show(show_progress, progress, scenes.share_done)
        run.show(show_scenes, scenes.outcomes, title)
        return Summary(tuple(scenes.outcomes), finish_dataset(run) if is_deployment else Finished())


def _may_retry(_: Task[..., object], __: TaskRun, state: State[object]) -> bool:
    return may_retry(state.result(raise_on_failure=False))


@task(name="fly-scene", task_run_name="{scene}", cache_policy=NO_CACHE, retry_condition_fn=_may_retry)
def fly_scene(scene: str) -> SceneOutcome:
    """Fly one scene on the next free simulator, label it, commit it."""
    return stages.fly_scene(current_run().context, scene)


def finish_dataset(run: Run) -> Finished:
    """Finish the dataset after the last scene: tables; on a local disk also further labels, contact sheet and validation.

    Raises:
        UavsimError: the error that ended the run.
        KeyboardInterrupt: the thread that called the run was interrupted.
    """
    if run.context.failure is not None:
        raise run.context.failure
    if run.context.stopped:
        raise KeyboardInterrupt
    run.context.pool.close()  # the validator's processes take the memory that simulators and clients had
    request, output, title = run.context.request, run.context.output, Path(run.context.request.out).name
    versions = run.call(assemble, request)
    if not versions or not output.is_local:
        return Finished(tuple(versions))
    for name in run.context.job.further:
        run.call(label, name, output.root)
    drawn = run.submit(contact_sheet, root=output.root, versions=versions)
    validation = run.call(validate, output.root, request.pixels) if request.check else None
    if validation is not None:
        run.show(show_validation, validation, title)
    page = drawn.wait()
    if isinstance(page, BaseException):
        raise page
    run.show(show_sheet, page, title)
    return Finished(tuple(versions), validation, page)


@task(name="assemble", cache_policy=NO_CACHE)
def assemble(request: OutputRequest) -> list[str]:
    """Write all tables from the committed scenes; returns the version folders."""
    return finish.assemble_tables(request.output())


@task(name="label", task_run_name="{name}", cache_policy=NO_CACHE)
def label(name: str, root: Path) -> None:
    """Add labels of the whole dataset."""
    current_run().context.job.further[name](root)


@task(name="contact-sheet", cache_policy=NO_CACHE)
def contact_sheet(root: Path, versions: list[str]) -> Path:
    """Draw the contact sheet; returns its path."""
    return finish.sheet(root, versions=versions)


@task(name="validate", cache_policy=NO_CACHE)
def validate(root: Path, pixels: bool | None) -> ValidationSummary:
    """Validate the dataset on disk."""
    return finish.validate(root, pixels=pixels)


@flow(name="regenerate-mini", flow_run_name="{request.out}")
def regenerate_mini(request: Request = MINI) -> Summary:
    """Generate the mini split, or finish it: 20 scenes of Town10HD."""
    return generate_dataset(request)


@flow(name="assemble-dataset", flow_run_name="{request.out}")
def assemble_dataset(request: OutputRequest) -> list[str]:
    """Write all tables from the committed scenes; may be repeated at any time."""
    return assemble(of_worker(request))


@flow(name="validate-dataset", flow_run_name="{request.out}")
def validate_dataset(request: OutputRequest) -> ValidationSummary:
    """Validate a dataset on disk.

    Raises:
        DatasetError: the dataset is not valid; the artifact lists the findings.
    """
    output = of_worker(request).output()
    if not output.is_local:
        raise InputError(f"{output.address}: the validator reads a local disk; copy the dataset, or mount it")
    summary = validate(output.root, request.pixels)
    show_validation(summary, Path(request.out).name)
    if not summary.ok:
        first = summary.lines[0] if summary.lines else "?"
        raise DatasetError(f"{request.out}: {summary.errors} errors, first: {first}")
    return summary
