"""The result of a run: scenes, tables and validation."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from uavsim.errors import DatasetError, SystemFailure, UavsimError
from uavsim.run.finish import Finished
from uavsim.run.outcome import SceneOutcome


@dataclass(frozen=True, slots=True)
class Summary:
    """The state of the requested scenes and the end of the run."""

    outcomes: tuple[SceneOutcome, ...]
    finished: Finished

    def named(self, *states: str) -> tuple[str, ...]:
        """Return the names of scenes in the given states, grouped by state."""
        return tuple(outcome.scene for state in states for outcome in self.outcomes if outcome.state == state)


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a run.

    Attributes:
        address: address of the dataset.
        committed: names of committed scenes of the request.
        quarantined: names of quarantined scenes.
        unfinished: names of other scenes.
        images: number of images of the committed scenes.
        seconds: duration of the run.
        valid: the validator's result; None if it did not run.
        contact_sheet: path of the contact sheet, or None.
        findings: the validator's first findings.
        simulator_s: total seconds of simulators reserved for the run.
        flown: scenes of this run; other committed scenes existed before.
        size_bytes: size of the requested scenes' files without tables and logs.
    """

    address: str
    committed: tuple[str, ...]
    quarantined: tuple[str, ...]
    unfinished: tuple[str, ...]
    images: int
    seconds: float
    valid: bool | None = None
    contact_sheet: Path | None = None
    findings: tuple[str, ...] = field(default=())
    simulator_s: float = 0.0
    size_bytes: int = 0
    flown: int = 0

    @classmethod
    def of(
        cls,
        summary: Summary,
        *,
        unchanged: Collection[str],
        address: str,
        seconds: float,
        simulator_s: float,
        size_bytes: int,
    ) -> Result:
        """Return the result of a run from its scenes' outcomes."""
        validation = summary.finished.validation
        return cls(
            address=address,
            committed=summary.named("committed"),
            quarantined=summary.named("quarantined"),
            unfinished=summary.named("failed", "elsewhere", "skipped"),
            images=sum(outcome.facts.images for outcome in summary.outcomes if outcome.facts is not None),
            seconds=seconds,
            valid=validation.ok if validation is not None else None,
            contact_sheet=summary.finished.contact_sheet,
            findings=validation.lines if validation is not None else (),
            simulator_s=simulator_s,
            flown=sum(scene not in unchanged for scene in summary.named("committed")),
            size_bytes=size_bytes,
        )

    @property
    def error(self) -> UavsimError | None:
        """Return the error that decides the exit code."""
        if self.quarantined or self.unfinished:
            parts = [
                f"{len(names)} {what}: {', '.join(names[:10])}{' ...' if len(names) > 10 else ''}"
                for what, names in (("quarantined", self.quarantined), ("unfinished", self.unfinished))
                if names
            ]
            return SystemFailure(f"{'; '.join(parts)} (for the reasons: uavsim status {self.address})")
        if self.valid is False:
            return DatasetError(f"{self.address} is not valid: {self.findings[0] if self.findings else ''}")
        return None
