"""``assemble-dataset`` and ``validate-dataset``: from committed scenes to tables, and what the validator says of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from pydantic import Field

from uavsim.errors import DatasetError, InputError
from uavsim.flows import finish
from uavsim.flows.artifacts import report_validation, tell_report
from uavsim.flows.finish import ValidationSummary
from uavsim.store.places import open_output

__all__ = ["Finished", "assemble_dataset", "finish_dataset", "validate_dataset"]

Out = Annotated[str, Field(description="folder or fsspec URL of the data set")]


@dataclass(frozen=True, slots=True)
class Finished:
    """What the end of a run left.

    Attributes:
        versions: version folders that were written; none when no scene is committed.
        verdict: what the validator found; None when nobody asked, or nothing is there to validate.
        contact_sheet: the page; None where there is none.
    """

    versions: tuple[str, ...] = ()
    verdict: ValidationSummary | None = None
    contact_sheet: Path | None = None


@task(name="assemble-tables", cache_policy=NO_CACHE)
def _assemble(out: str) -> list[str]:
    return finish.assemble_tables(open_output(out))


@task(name="validate", cache_policy=NO_CACHE)
def _validate(root: Path, *, pixels: bool | None) -> ValidationSummary:
    return finish.validate(root, pixels=pixels)


@task(name="contact-sheet", cache_policy=NO_CACHE)
def _sheet(root: Path, *, versions: list[str]) -> Path:
    return finish.sheet(root, versions=versions)


@flow(name="assemble-dataset", flow_run_name="{out}", validate_parameters=True)
def assemble_dataset(out: Out) -> list[str]:
    """Write all tables from the scenes that are committed; may be repeated at any time."""
    return _assemble(out)


@flow(name="validate-dataset", flow_run_name="{out}", validate_parameters=True)
def validate_dataset(
    out: Out, pixels: Annotated[bool | None, Field(description="decode every image; when few by default")] = None
) -> ValidationSummary:
    """Judge a data set by what is on disk; fails when it breaks a promise.

    Raises:
        DatasetError: it does; the artifact lists the findings.
    """
    verdict = _validate(_local_root(out), pixels=pixels)
    report_validation(verdict, title=Path(out).name)
    if not verdict.ok:
        raise DatasetError(f"{out}: {verdict.errors} errors, first: {verdict.lines[0] if verdict.lines else '?'}")
    return verdict


def finish_dataset(out: str, *, check: bool = True) -> Finished:
    """Write the tables; validate them and draw the contact sheet where the data set is on a local disk."""
    versions = _assemble(out)
    output = open_output(out)
    if not versions or not output.is_local:
        return Finished(versions=tuple(versions))
    page = _sheet(output.root, versions=versions)
    tell_report(page, title=output.root.name, text="contact sheet")
    verdict = _validate(output.root, pixels=None) if check else None
    if verdict is not None:
        report_validation(verdict, title=output.root.name)
    return Finished(versions=tuple(versions), verdict=verdict, contact_sheet=page)


def _local_root(out: str) -> Path:
    output = open_output(out)
    if not output.is_local:
        raise InputError(f"{output.address}: the validator reads a local disk; copy the data set, or mount it")
    return output.root
