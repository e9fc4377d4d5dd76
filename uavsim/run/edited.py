"""Refuse to continue a dataset with a configuration that was edited since its first scene.

Committed scenes stay valid while their plans are unchanged, so unrelated edits are allowed.
"""

from collections.abc import Callable
from pathlib import Path

from uavsim.config.stored import StoredConfig, first_edit, read_stored
from uavsim.errors import ConfigError, InputError
from uavsim.run.job import Job, PackedPlan
from uavsim.run.request import Request
from uavsim.store.identity import kept_dataset
from uavsim.store.ledger import LedgerEntry, read_ledger
from uavsim.store.output import Output


def refuse_edits(request: Request, job: Job, output: Output, *, resolve: Callable[[Request], Job]) -> None:
    """Refuse to add scenes to committed ones that the current YAML would plan differently.

    Args:
        request: the request.
        job: its scenes and plans.
        output: this dataset's output, or an empty one.
        resolve: makes the job of a request.

    Raises:
        InputError: the configuration was edited; the message names file and key.
    """
    stored = kept_dataset(output)
    if stored is None or not job.configuration or (edit := first_edit(_read(stored), job.configuration)) is None:
        return
    restarted = {scene.name for scene in job.scenes} if request.force else set()
    for entry in read_ledger(output).values():
        if entry.state != "committed" or entry.scene in restarted:
            continue
        if _current_plan(entry, request, job, resolve).digest != entry.plan_sha256:
            raise InputError(
                f"{output.address} was started with another {edit}, and {entry.scene} was flown with it: restore it, choose "
                "another --out, or replace its scenes with --force-scenes"
            )


def _read(path: str) -> StoredConfig:
    try:
        return read_stored(Path(path))
    except ConfigError as error:
        raise InputError(
            f"{path} is damaged, so edits of the configuration cannot be found: restore it, or move it away if nothing "
            "was edited, and run the same command again"
        ) from error


def _current_plan(entry: LedgerEntry, request: Request, job: Job, resolve: Callable[[Request], Job]) -> PackedPlan:
    """Return a committed scene's plan under the current configuration."""
    if entry.scene in job.plans:
        return job.plans[entry.scene]
    return resolve(request.model_copy(update={"towns": (entry.town,), "scenes": str(entry.index)})).plans[entry.scene]
