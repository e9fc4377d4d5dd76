"""A run's artifacts in Prefect: tables, summaries and the contact sheet's image, for people and not for machines."""

import base64
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from prefect.artifacts import create_image_artifact, create_markdown_artifact, create_table_artifact

from uavsim.escape import markdown_text
from uavsim.images.codec import decode_rgb
from uavsim.images.overlay import small_jpeg
from uavsim.run.finish import ValidationSummary
from uavsim.run.outcome import SceneOutcome

__all__ = ["ARTIFACTS", "report_scenes"]

_SHEET_PX: Final = 1280
_JPEG_QUALITY: Final = 80


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


def _report_validation(summary: ValidationSummary, title: str) -> None:
    """Show what the validator said."""
    head = f"# {markdown_text(title)}: {'valid' if summary.ok else f'{summary.errors} errors'}\n\n"
    facts = "\n".join(
        f"- {key}: {markdown_text(value)}"
        for key, value in summary.facts.items()
        if not isinstance(value, (dict, list))
    )
    findings = "".join(f"\n- {markdown_text(line)}" for line in summary.lines)
    create_markdown_artifact(markdown=head + facts + findings, key=artifact_key(f"validation {title}"))


def _show_sheet(page: Path, title: str) -> None:
    """Show the contact sheet, small: the image travels within the artifact, because Prefect serves no files."""
    jpeg = small_jpeg(decode_rgb(page), width_px=_SHEET_PX, quality=_JPEG_QUALITY)
    create_image_artifact(
        image_url=f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode('ascii')}",
        key=artifact_key(f"contact sheet {title}"),
        description=f"Contact sheet of {title}, in full at {page.resolve().as_uri()}",
    )


ARTIFACTS: Final[dict[str, Callable[[Any, str], None]]] = {"contact-sheet": _show_sheet, "validate": _report_validation}
"""What is shown of a step's result, by the step's name; with the title of the dataset."""
