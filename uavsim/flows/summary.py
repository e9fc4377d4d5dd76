"""How a run ended, scene by scene."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from uavsim.flows.finish import Finished
from uavsim.flows.stages import SceneOutcome

__all__ = ["DatasetSummary"]


@dataclass(frozen=True, slots=True)
class DatasetSummary:
    """How the scenes that were asked for stand, and what the validator said."""

    outcomes: tuple[SceneOutcome, ...]
    finished: Finished

    def named(self, state: str) -> list[str]:
        """Return the scenes in one state."""
        return [outcome.scene for outcome in self.outcomes if outcome.state == state]

    @property
    def images(self) -> int:
        """Images of the scenes that are committed."""
        return sum(outcome.facts.images for outcome in self.outcomes if outcome.facts is not None)

    @property
    def valid(self) -> bool | None:
        """Whether the validator found no error; None when it was not asked."""
        return self.finished.validation.ok if self.finished.validation is not None else None

    @property
    def contact_sheet(self) -> Path | None:
        """The page, if there is one."""
        return self.finished.contact_sheet

    @property
    def findings(self) -> tuple[str, ...]:
        """The validator's first findings."""
        return self.finished.validation.lines if self.finished.validation is not None else ()
