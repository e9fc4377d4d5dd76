"""The end of a run: tables from the committed scenes, quick validation, contact sheet."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from uavsim.access.contact_sheet import write_contact_sheet
from uavsim.dataset.assemble import AssembledVersion, assemble
from uavsim.dataset.map_mask import draw_map_mask
from uavsim.dataset.rows import RunInfo
from uavsim.errors import DatasetError, SystemFailure
from uavsim.records.recording import Recording
from uavsim.store.commit import drop_retired, generation_of, read_fragment
from uavsim.store.identity import read_identity, refuse_removed
from uavsim.store.layout import check_name
from uavsim.store.ledger import LedgerEntry, read_ledger
from uavsim.store.output import Output
from uavsim.typing import JsonDict
from uavsim.validate import validate_version
from uavsim.validate.dataset import versions_of

__all__ = [
    "Finished",
    "ValidationSummary",
    "assemble_tables",
    "committed_scenes",
    "decodes",
    "keep_map_mask",
    "sheet",
    "validate",
]

_TABLES: Final = "tables"  # name of the tables' lock and staging folder, like a scene's
_MASKS: Final = ".uavsim/maps"
_WAIT_S: Final = 600.0
_FEW_IMAGES: Final = 12_000  # half a minute on two cores, a tenth of what they took to make


@dataclass(frozen=True, slots=True)
class ValidationSummary:
    """Summary of the validator's report.

    Attributes:
        errors: findings with severity error.
        facts: counts of checked objects.
        lines: the first findings, one line each.
    """

    errors: int
    facts: JsonDict
    lines: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return self.errors == 0


@dataclass(frozen=True, slots=True)
class Finished:
    """The result of a run's end.

    Attributes:
        versions: written version folders; empty without committed scenes.
        validation: the validator's findings; None if it did not run.
        contact_sheet: path of the page, or None.
    """

    versions: tuple[str, ...] = ()
    validation: ValidationSummary | None = None
    contact_sheet: Path | None = None


def committed_scenes(output: Output) -> list[LedgerEntry]:
    """Return the committed scenes in the order of the tables."""
    return sorted((e for e in read_ledger(output).values() if e.state == "committed"), key=lambda e: e.index)


def keep_map_mask(output: Output, recording: Recording) -> None:
    """Store the town's map mask for the tables if the output lacks it."""
    key = f"{_MASKS}/{check_name(recording.plan.town.name, what='town')}.png"
    if recording.drivable_map_m is not None and output.read(key) is None:
        output.create(key, draw_map_mask(recording.plan.town, list(recording.drivable_map_m)))


def assemble_tables(output: Output) -> list[str]:
    """Write all tables of the committed scenes to a staging folder, then replace the old tables.

    Returns:
        Version folders; empty without committed scenes.
    """
    with _tables_lock(output):
        refuse_removed(output)
        entries = committed_scenes(output)
        if not entries:
            return []
        folder = output.stage(_TABLES)
        try:
            masks = {town: mask for town in {e.town for e in entries} if (mask := output.read(f"{_MASKS}/{town}.png"))}
            info = _public_part(read_identity(output) or {})
            versions = _assembled(output, entries, folder=folder, masks=masks, info=info)
            output.publish(folder, versions=[version.version for version in versions])
        finally:
            output.drop_staged(folder)
        drop_retired(output, entries)
        return [version.version for version in versions]


def _assembled(
    output: Output, entries: list[LedgerEntry], *, folder: Path, masks: dict[str, bytes], info: RunInfo
) -> list[AssembledVersion]:
    """Assemble the tables; an error on damaged rows names the scene and the command that regenerates it."""
    reached: list[LedgerEntry] = []

    def fragments() -> Iterator[bytes]:
        for entry in entries:
            reached.append(entry)
            yield read_fragment(output, entry)

    try:
        return assemble(folder, fragments(), map_masks=masks, info=info)
    except DatasetError as error:
        entry = reached[-1]
        raise DatasetError(
            f"{output.address}/{generation_of(entry).fragment}: the table rows of scene {entry.scene} are damaged ({error}); "
            f"make them again from its recording: uavsim annotate {output.address} --scenes {entry.scene}"
        ) from error


def validate(root: Path, *, pixels: bool | None = None) -> ValidationSummary:
    """Validate a dataset.

    Args:
        root: the dataset's folder.
        pixels: decode images and masks; default: see ``decodes``.

    Raises:
        DatasetError: the folder has no dataset.
    """
    errors, lines, facts = 0, [], {}
    for version in versions_of(root):
        decode_pixels = decodes((root / version / "sample_data.json").stat().st_size, requested=pixels)
        report = validate_version(root, version, pixels=decode_pixels)
        errors += report.errors
        lines += [f"{f.code} {f.place_text}: {f.message}" for f in report.findings if f.severity == "error"]
        facts[version] = {**report.facts, "images decoded": decode_pixels}
    return ValidationSummary(errors=errors, facts=facts, lines=tuple(lines[:20]))


SHEET: Final = "contact_sheet.png"
"""Name of the contact sheet in the dataset's folder."""


def sheet(root: Path, *, versions: list[str] | None = None) -> Path:
    """Draw the contact sheet of the first scene; returns its path."""
    version = (versions or versions_of(root))[0]
    return write_contact_sheet(root, root / SHEET, version=version)


def decodes(table_bytes: float, *, requested: bool | None) -> bool:
    """Return whether validation decodes all images: as requested, else depending on the size of the table."""
    return table_bytes < 500 * _FEW_IMAGES if requested is None else requested


def _public_part(identity: JsonDict) -> RunInfo:
    """Return the part of the identity that is equal in all runs of the dataset."""
    return cast("RunInfo", {key: identity[key] for key in RunInfo.__annotations__ if key in identity})


@contextmanager
def _tables_lock(output: Output) -> Iterator[None]:
    """Hold the tables' lock: several workers may finish at the same time."""
    end = time.monotonic() + _WAIT_S
    while True:
        with output.lock(_TABLES) as is_locked:
            if is_locked:
                yield
                return
        if time.monotonic() > end:
            raise SystemFailure(
                f"another process has locked the tables of {output.address} for {_WAIT_S:g} s; stop it if it hangs"
            )
        time.sleep(0.2)
