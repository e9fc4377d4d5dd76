"""What the official devkit says: its report on a dataset, and its metrics of a detector's or tracker's results."""

from __future__ import annotations

from pathlib import Path

from uavsim.evaluate.judge_process import run_judge
from uavsim.typing import JsonDict

__all__ = ["devkit_report", "devkit_scores", "problems_of"]


def devkit_report(root: Path, version: str, *, split: str | None = None, images: Path | None = None) -> JsonDict:
    """Let the unmodified nuScenes devkit load, walk, draw and evaluate a strict dataset.

    Args:
        root: the dataset's folder.
        version: its version folder.
        split: evaluate this split of ``splits.json``; default: every scene.
        images: keep the devkit's drawings in this folder.

    Returns:
        ``{"ok": bool, "checks": {name: {"ok": bool, ...}}}``.

    Raises:
        InputError: the judge's environment is not installed.
        SystemFailure: the judge crashed.
    """
    arguments = [str(root.resolve()), version]
    arguments += ["--split", split] if split else []
    arguments += ["--images", str(images.resolve())] if images else []
    return run_judge("devkit_check", *arguments)


def devkit_scores(root: Path, version: str, predictions: Path, *, split: str | None = None) -> JsonDict:
    """Evaluate a result file in nuScenes' own format, detection or tracking.

    Args:
        root: the dataset's folder, strict dialect.
        version: its version folder.
        predictions: ``{"meta": ..., "results": {sample_token: [boxes]}}``.
        split: of ``splits.json``; default: the scenes that the results are about.

    Returns:
        ``{"task", "range_m", "classes": {name: {...}}, ...}``; means are over the classes that have ground truth.

    Raises:
        InputError: no such file, or the judge's environment is not installed.
        SystemFailure: the judge crashed.
    """
    arguments = [str(root.resolve()), version, str(predictions.resolve())]
    return run_judge("score", *arguments, *(["--split", split] if split else []))


def problems_of(report: JsonDict) -> list[str]:
    """Return one line for each check that failed, with what the devkit said."""
    lines = []
    for name, check in report["checks"].items():
        if not check["ok"]:
            figures = [f"{k} {v}" for k, v in check.items() if isinstance(v, (int, float, str)) and k != "ok"]
            reported = check.get("problems") or figures
            lines.append(f"devkit {name}: {'; '.join(map(str, reported[:6]))}")
    return lines
