"""What people see of a run in Prefect: tables and summaries, not numbers for machines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact

from uavsim.escape import markdown_text
from uavsim.flows.finish import ValidationSummary
from uavsim.flows.stages import SceneOutcome

__all__ = ["link_report", "report_scenes", "report_validation"]


def artifact_key(text: str) -> str:
    """Make a key of lower case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "run"


def report_scenes(outcomes: Sequence[SceneOutcome], *, title: str) -> None:
    """Show one row a scene: state, what spawned, retries, pace."""
    rows = [
        {
            "scene": outcome.scene,
            "state": outcome.state,
            "vehicles": f"{facts.vehicles} of {facts.vehicles_asked}" if (facts := outcome.facts) else "-",
            "images": facts.images if facts else 0,
            "images/s": facts.images_per_s if facts else 0.0,
            "failed attempts": outcome.attempts,
            "last reason": outcome.reason,
        }
        for outcome in outcomes
    ]
    create_table_artifact(table=rows, key=artifact_key(f"scenes {title}"), description=f"Scenes of {title}")


def report_validation(summary: ValidationSummary, *, title: str) -> None:
    """Show what the validator said."""
    head = f"# {markdown_text(title)}: {'valid' if summary.ok else f'{summary.errors} errors'}\n\n"
    facts = "\n".join(
        f"- {key}: {markdown_text(value)}"
        for key, value in summary.facts.items()
        if not isinstance(value, (dict, list))
    )
    findings = "".join(f"\n- {markdown_text(line)}" for line in summary.lines)
    create_markdown_artifact(markdown=head + facts + findings, key=artifact_key(f"validation {title}"))


def link_report(path: Path, *, title: str, text: str) -> None:
    """Link a file that the run left (contact sheet, report)."""
    create_link_artifact(link=path.resolve().as_uri(), link_text=text, key=artifact_key(f"{text} {title}"))
