"""The validator: runs every check of ``checks`` on a dataset on disk, and makes a report."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from uavsim.validate import coverage
from uavsim.validate.checks import checks
from uavsim.validate.dataset import open_dataset, versions_of
from uavsim.validate.evidence import Evidence, gather, ready_to_look
from uavsim.validate.findings import Finding, Report, collect


def validate_dataset(root: Path, *, pixels: bool = True, workers: int = 2) -> list[Report]:
    """Validate every version folder of a dataset.

    Args:
        root: the dataset's folder.
        pixels: decode images and masks.
        workers: processes that measure images.

    Raises:
        InputError: the folder does not exist.
        DatasetError: the folder has no dataset.
    """
    return [validate_version(root, version, pixels=pixels, workers=workers) for version in versions_of(root)]


def validate_version(
    root: Path, version: str, *, dialect: str | None = None, pixels: bool = True, workers: int = 2
) -> Report:
    """Validate one version folder.

    Args:
        root: the dataset's folder.
        version: one of ``versions_of``.
        dialect: ``strict`` or ``uav3d``; default: detected.
        pixels: decode images and masks.
        workers: processes that measure images.
    """
    skipped: dict[str, str] = {}
    with np.errstate(all="ignore"):  # a dataset may have any numbers; checks ignore those that are not finite
        with ready_to_look(root / version, workers=workers) as run:
            data = open_dataset(root, version, dialect=dialect)
            evidence = gather(data, pixels=pixels, run=run)
        listed, counts, errors = collect(findings_of(evidence, skipped))
    return Report(
        folder=str(root),
        version=version,
        dialect=data.dialect,
        findings=listed,
        counts=counts,
        errors=errors,
        facts=coverage.coverage_facts(evidence),
        skipped=skipped,
    )


def findings_of(evidence: Evidence, skipped: dict[str, str]) -> Iterator[Finding]:
    """Yield the findings of all checks; ``skipped`` receives names and reasons of skipped checks."""
    for check in checks():
        if not check.applies(evidence.data):
            continue
        reason = check.why_not(evidence)
        if reason is not None:
            skipped[check.name] = reason
            continue
        for finding in check.look(evidence):
            assert finding.code in check.codes, f"{check.name} does not declare the code {finding.code}"
            yield finding
