"""The outcome of one scene's task, as the ledger's entry has it."""

from dataclasses import dataclass

from rich.text import Text

from uavsim.store.ledger import LedgerEntry, SceneFacts
from uavsim.terminal import counts, line


@dataclass(frozen=True, slots=True)
class SceneOutcome:
    """The state of a scene when its task ends.

    Attributes:
        scene: its name.
        state: committed now or before; quarantined; elsewhere: another process has it; skipped: the run is ending.
        attempts: failed ones, in all runs.
        facts: how it was flown; None when it is not committed.
        reason: the last failure, if any.
    """

    scene: str
    state: str
    town: str = ""
    attempts: int = 0
    facts: SceneFacts | None = None
    reason: str = ""


def outcome_of(entry: LedgerEntry) -> SceneOutcome:
    """Return the outcome that a scene's ledger entry stands for."""
    reason = entry.failures[-1] if entry.failures else ""
    return SceneOutcome(entry.scene, entry.state, entry.town, len(entry.failures), entry.facts, reason)


def done_line(entry: LedgerEntry) -> Text:
    """Return the progress line for a committed scene."""
    facts = entry.facts or SceneFacts()
    retries = f", {entry.attempts} failed before" if entry.attempts else ""
    return line(
        ("green", entry.scene),
        f" {counts(sample=facts.samples, image=facts.images)}, {facts.vehicles} of {facts.vehicles_asked} vehicles, "
        f"{facts.images_per_s} images/s{retries}",
    )
