"""``assemble-dataset`` and ``validate-dataset``: from committed scenes to tables, and what the validator says of them."""

from __future__ import annotations

from pathlib import Path

from prefect import flow, task
from prefect.cache_policies import NO_CACHE

from uavsim.errors import DatasetError, InputError
from uavsim.flows import finish
from uavsim.flows.artifacts import link_report, report_validation
from uavsim.flows.finish import Finished, ValidationSummary
from uavsim.flows.request import OutputRequest, Request
from uavsim.flows.worker import of_worker

__all__ = ["assemble_dataset", "finish_dataset", "validate_dataset"]


@task(name="assemble-tables", cache_policy=NO_CACHE)
def _assemble(request: OutputRequest) -> list[str]:
    return finish.assemble_tables(request.output())


@task(name="validate", cache_policy=NO_CACHE)
def _validate(root: Path, *, pixels: bool | None) -> ValidationSummary:
    return finish.validate(root, pixels=pixels)


@task(name="contact-sheet", cache_policy=NO_CACHE)
def _sheet(root: Path, *, versions: list[str]) -> Path:
    return finish.sheet(root, versions=versions)


@flow(name="assemble-dataset", flow_run_name="{request.out}", validate_parameters=True)
def assemble_dataset(request: OutputRequest) -> list[str]:
    """Write all tables from the scenes that are committed; may be repeated at any time."""
    return _assemble(of_worker(request))


@flow(name="validate-dataset", flow_run_name="{request.out}", validate_parameters=True)
def validate_dataset(request: OutputRequest) -> ValidationSummary:
    """Validate a dataset by what is on disk; fails when it is not valid.

    Raises:
        DatasetError: it is not; the artifact lists the findings.
    """
    summary = _validate(_local_root(of_worker(request)), pixels=request.pixels)
    report_validation(summary, title=Path(request.out).name)
    if not summary.ok:
        first = summary.lines[0] if summary.lines else "?"
        raise DatasetError(f"{request.out}: {summary.errors} errors, first: {first}")
    return summary


def finish_dataset(request: Request) -> Finished:
    """Write the tables; validate them and draw the contact sheet where the dataset is on a local disk."""
    versions = _assemble(request)
    output = request.output()
    if not versions or not output.is_local:
        return Finished(versions=tuple(versions))
    page = _sheet(output.root, versions=versions)
    link_report(page, title=output.root.name, text="contact sheet")
    validation = _validate(output.root, pixels=request.pixels) if request.check else None
    if validation is not None:
        report_validation(validation, title=output.root.name)
    return Finished(versions=tuple(versions), validation=validation, contact_sheet=page)


def _local_root(request: OutputRequest) -> Path:
    output = request.output()
    if not output.is_local:
        raise InputError(f"{output.address}: the validator reads a local disk; copy the dataset, or mount it")
    return output.root
