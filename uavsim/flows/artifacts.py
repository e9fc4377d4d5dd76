"""A run's artifacts in Prefect, for human readers: tables, summaries and the contact sheet's image."""

import base64
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from uuid import UUID

from prefect.artifacts import (
    create_image_artifact,
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)

from uavsim.escape import markdown_text
from uavsim.images.codec import decode_rgb
from uavsim.images.overlay import small_jpeg
from uavsim.run.finish import ValidationSummary
from uavsim.run.outcome import SceneOutcome

__all__ = ["begin_progress", "show_progress", "show_scenes", "show_sheet", "show_validation"]

_SHEET_PX: Final = 1280
_JPEG_QUALITY: Final = 80


def artifact_key(text: str) -> str:
    """Make a key of lower case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "run"


def begin_progress(title: str) -> UUID:
    """Make a town's progress bar; returns the artifact's id."""
    made = create_progress_artifact(0.0, description=f"Scenes of {title}")
    assert isinstance(made, UUID), "in a synchronous flow"
    return made


def show_progress(artifact: UUID, share: float) -> None:
    """Update a progress bar.

    Args:
        artifact: id of the progress bar.
        share: share of finished scenes, 0 to 1.
    """
    update_progress_artifact(artifact, 100.0 * share)


def show_scenes(outcomes: Sequence[SceneOutcome], title: str) -> None:
    """Show one row per scene: state, spawned actors, retries, pace."""
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


def show_validation(summary: ValidationSummary, title: str) -> None:
    """Show the validator's report."""
    head = f"# {markdown_text(title)}: {'valid' if summary.ok else f'{summary.errors} errors'}\n\n"
    facts = "\n".join(
        f"- {key}: {markdown_text(value)}"
        for key, value in summary.facts.items()
        if not isinstance(value, (dict, list))
    )
    findings = "".join(f"\n- {markdown_text(line)}" for line in summary.lines)
    create_markdown_artifact(markdown=head + facts + findings, key=artifact_key(f"validation {title}"))


def show_sheet(page: Path, title: str) -> None:
    """Show a small contact sheet; the image is inside the artifact because Prefect serves no files."""
    jpeg = small_jpeg(decode_rgb(page), width_px=_SHEET_PX, quality=_JPEG_QUALITY)
    create_image_artifact(
        image_url=f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode('ascii')}",
        key=artifact_key(f"contact sheet {title}"),
        description=f"Contact sheet of {title}. Full size on the machine of the run: {page.resolve()}",
    )
