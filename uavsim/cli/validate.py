"""``uavsim validate`` and ``uavsim evaluate``: judge a data set on disk, or somebody's results on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from uavsim.errors import DatasetError, InputError
from uavsim.evaluate.collaborative import recall_by_group
from uavsim.evaluate.devkit import devkit_report, devkit_scores, problems_of
from uavsim.terminal import Screen, line
from uavsim.typing import JsonDict
from uavsim.validate import Report, validate_version
from uavsim.validate.dataset import versions_of

__all__ = ["register"]

_SHOWN_PER_CODE = 3

Folder = Annotated[Path, typer.Argument(help="The data set's folder: the one that holds v1.0-mini or the like.")]
Version = Annotated[str | None, typer.Option(help="Judge this version folder only.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to ``app``."""
    app.command(name="validate")(validate)
    app.command(name="evaluate")(evaluate)


def validate(
    folder: Folder,
    *,
    version: Version = None,
    report: Annotated[Path | None, typer.Option("--report", "--json", help="Write the full report here.")] = None,
    dialect: Annotated[str | None, typer.Option(help="strict or uav3d; default: what it looks like.")] = None,
    pixels: Annotated[bool, typer.Option(help="Decode every image and mask.")] = True,
    workers: Annotated[int, typer.Option(min=1, help="Processes that look at images.")] = 2,
    devkit: Annotated[bool, typer.Option("--devkit", help="Ask the official nuScenes devkit as well.")] = False,
    images: Annotated[Path | None, typer.Option(help="With --devkit: keep its drawings here.")] = None,
) -> None:
    """Judge a data set by what is on disk; exit code 4 when a promise is broken."""
    console = Screen()
    reports, outside = [], {}
    for name in [version] if version else versions_of(folder):
        verdict = validate_version(folder, name, dialect=dialect, pixels=pixels, workers=workers)
        reports.append(verdict)
        _show(console, verdict)
        if devkit and verdict.dialect == "strict":
            outside[name] = devkit_report(folder, name, images=images)
            _show_devkit(console, outside[name])
    if report:
        _write(report, {"ok": _good(reports, outside), "versions": [r.as_json() for r in reports], "devkit": outside})
    if not _good(reports, outside):
        raise DatasetError(_complaint(folder, reports, outside))


def evaluate(
    folder: Folder,
    *,
    predictions: Annotated[Path, typer.Option(help="Results in nuScenes' format, detection or tracking.")],
    version: Version = None,
    split: Annotated[str | None, typer.Option(help="Of splits.json; default: the scenes in the results.")] = None,
    groups: Annotated[
        bool, typer.Option("--groups", help="Recall by drones that see a box, distance, visibility.")
    ] = False,
    report: Annotated[Path | None, typer.Option("--report", "--json", help="Write all figures here.")] = None,
) -> None:
    """Score results with the official devkit at 102.4 m; means are over the classes that are there."""
    if not predictions.is_file():
        raise InputError(f"{predictions}: no such file")
    there = versions_of(folder)
    if version is None and len(there) > 1:
        raise InputError(f"{folder} holds {', '.join(there)}: choose one with --version")
    scores = devkit_scores(folder, version or there[0], predictions, split=split)
    if not scores["ok"]:
        raise InputError(f"{predictions}: the devkit refuses it: {scores['problem']}")
    _show_scores(Screen(), scores)
    if groups:
        scores["groups"] = recall_by_group(folder, version or there[0], predictions)
        _show_groups(Screen(), scores["groups"])
    if report:
        _write(report, scores)


def _good(reports: list[Report], outside: JsonDict) -> bool:
    return all(r.ok for r in reports) and all(verdict["ok"] for verdict in outside.values())


def _complaint(folder: Path, reports: list[Report], outside: JsonDict) -> str:
    errors = sum(r.errors for r in reports)
    lines = [f"{f.code} at {f.place}: {f.message}" for r in reports for f in r.findings if f.severity == "error"]
    lines += [line for verdict in outside.values() for line in problems_of(verdict)]
    return f"{folder}: not valid, {errors} errors; first: {lines[0]}"


def _show(console: Screen, report: Report) -> None:
    facts = report.facts
    console.print(
        line(
            ("bold", report.version),
            f" ({report.dialect}): {facts['scenes']} scenes, {facts['samples']} samples, {facts['images']} images, "
            f"{facts['boxes']} boxes",
        )
    )
    if report.findings:
        table = Table("code", "count", "where", "what", box=None, pad_edge=False)
        for code, count in report.counts.items():
            some = [f for f in report.findings if f.code == code][:_SHOWN_PER_CODE]
            for i, finding in enumerate(some):
                table.add_row(code if i == 0 else "", str(count) if i == 0 else "", finding.place, finding.message)
        console.print(table)
    for check, reason in report.skipped.items():
        console.print(f"  not checked: {check}: {reason}", style="dim")
    verdict = ("green", "valid") if report.ok else ("red", f"{report.errors} errors")
    warnings = sum(report.counts.values()) - report.errors
    console.print(line("  ", verdict, f", {warnings} warnings" if warnings else ""))


def _show_devkit(console: Screen, verdict: JsonDict) -> None:
    for name, check in verdict["checks"].items():
        figures = [f"{k} {v:.4g}" for k, v in check.items() if isinstance(v, (int, float)) and not isinstance(v, bool)]
        mark = ("green", "good") if check["ok"] else ("red", "failed")
        told = "; ".join(check.get("problems") or figures)
        console.print(line(f"  devkit {name}: ", mark, f" {told}"))


def _show_scores(console: Screen, scores: JsonDict) -> None:
    first: JsonDict = next(iter(scores["classes"].values()), {})
    columns = [name for name, value in first.items() if not isinstance(value, dict)]
    table = Table("class", *columns, box=None, pad_edge=False)
    for name, row in scores["classes"].items():
        table.add_row(name, *("-" if row[c] is None else f"{row[c]:.4g}" for c in columns))
    console.print(table)
    for name, value in scores.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            console.print(f"  {name}: {value:.4g}")


def _show_groups(console: Screen, groups: JsonDict) -> None:
    for kind, rows in groups.items():
        if isinstance(rows, dict):
            told = ", ".join(f"{name}: {row['recall']:.3f} of {row['boxes']}" for name, row in rows.items())
            console.print(f"  recall {kind.replace('_', ' ')}: {told}")


def _write(path: Path, content: JsonDict) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: the report cannot be written: {error.strerror}") from error
