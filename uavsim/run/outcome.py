"""The outcome of one scene's task by its ledger entry."""

from dataclasses import dataclass

from rich.text import Text

from uavsim.store.ledger import LedgerEntry, SceneFacts
from uavsim.terminal import counts, line


@dataclass(frozen=True, slots=True)
class SceneOutcome:
    """The state of a scene when its task ends.

    Attributes:
        scene: name of the scene.
        state: committed now or before; quarantined; elsewhere: another process holds it; skipped: the run is ending.
        attempts: failed attempts in all runs.
        facts: statistics of the flight; None without a commit.
        reason: the last failure, if any.
    """

    scene: str
    state: str
    town: str = ""
    attempts: int = 0
    facts: SceneFacts | None = None
    reason: str = ""


def outcome_of(entry: LedgerEntry) -> SceneOutcome:
    """Return the outcome of a scene by its ledger entry."""
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
