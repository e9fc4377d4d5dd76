"""``uavsim validate``: check a dataset on disk."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from uavsim.cli.options import DatasetFolder
from uavsim.errors import DatasetError
from uavsim.files.whole import write_whole
from uavsim.terminal import Screen, count, counts, line, write_out
from uavsim.typing import JsonDict
from uavsim.validate import Report, validate_version
from uavsim.validate.dataset import versions_of
from uavsim.validate.devkit_process import devkit_report, problems_of

_SHOWN_PER_CODE = 3
_PRINTED = Path("-")


def validate(
    folder: DatasetFolder,
    *,
    version: Annotated[str | None, typer.Option(help="Check this version folder only.")] = None,
    report: Annotated[
        Path | None, typer.Option("--report", "--json", help="Write the full report here; - prints it.")
    ] = None,
    dialect: Annotated[str | None, typer.Option(help="strict or uav3d; default: detected from the files.")] = None,
    pixels: Annotated[bool, typer.Option(help="Decode every image and mask.")] = True,
    workers: Annotated[int, typer.Option(min=1, help="Processes that check images.")] = 2,
    devkit: Annotated[bool, typer.Option("--devkit", help="Also load it with the official nuScenes devkit.")] = False,
    images: Annotated[Path | None, typer.Option(help="With --devkit: folder for its drawings.")] = None,
) -> None:
    """Run ``uavsim validate``."""
    console = Screen(quiet=report == _PRINTED)
    reports, outside = [], {}
    for name in [version] if version else versions_of(folder):
        checked = validate_version(folder, name, dialect=dialect, pixels=pixels, workers=workers)
        reports.append(checked)
        _show(console, checked)
        if devkit and checked.dialect == "strict":
            outside[name] = devkit_report(folder, name, images=images)
            _show_devkit(console, outside[name])
    if report:
        _write(report, {"ok": _good(reports, outside), "versions": [r.as_json() for r in reports], "devkit": outside})
    if not _good(reports, outside):
        raise DatasetError(_complaint(folder, reports, outside))


def _good(reports: list[Report], outside: JsonDict) -> bool:
    return all(r.ok for r in reports) and all(devkit["ok"] for devkit in outside.values())


def _complaint(folder: Path, reports: list[Report], outside: JsonDict) -> str:
    errors = [f"{f.code} at {f.place_text}: {f.message}" for r in reports for f in r.findings if f.severity == "error"]
    reported = [problem for devkit in outside.values() for problem in problems_of(devkit)]
    if errors:
        also = f" and {count(len(reported), 'failed check')} of the devkit" if reported else ""
        return f"{folder}: not valid, {count(len(errors), 'error')}{also}; first: {errors[0]}"
    return (
        f"{folder}: not valid, {count(len(reported), 'failed check')} of the nuScenes devkit, though uavsim finds no error; "
        f"first: {reported[0]}; --json FILE writes the values, docs/validation.md lists the compared ones"
    )


def _show(console: Screen, report: Report) -> None:
    facts = report.facts
    size_text = counts(scene=facts["scenes"], sample=facts["samples"], image=facts["images"])
    console.print(
        line(
            ("bold", report.version),
            f" ({report.dialect}): {size_text}, {facts['boxes']:,} box{'' if facts['boxes'] == 1 else 'es'}",
        )
    )
    if report.findings:
        table = Table("code", "count", "where", "what", box=None, pad_edge=False)
        for code, found in report.counts.items():
            some = [f for f in report.findings if f.code == code][:_SHOWN_PER_CODE]
            for i, finding in enumerate(some):
                table.add_row(code if i == 0 else "", str(found) if i == 0 else "", finding.place_text, finding.message)
        console.print(table)
    for check, reason in report.skipped.items():
        console.print(f"  not checked: {check}: {reason}", style="dim")
    outcome = ("green", "valid") if report.ok else ("red", f"{report.errors} errors")
    warnings = sum(report.counts.values()) - report.errors
    console.print(line("  ", outcome, f", {warnings} warnings" if warnings else ""))


def _show_devkit(console: Screen, devkit: JsonDict) -> None:
    for name, check in devkit["checks"].items():
        figures = [f"{k} {v:.4g}" for k, v in check.items() if isinstance(v, (int, float)) and not isinstance(v, bool)]
        mark = ("green", "good") if check["ok"] else ("red", "failed")
        noted = [check["note"]] if "note" in check else []
        reported = "; ".join(check.get("problems") or noted + figures)
        console.print(line(f"  devkit {name}: ", mark, f" {reported}"))


def _write(path: Path, content: JsonDict) -> None:
    if path == _PRINTED:
        write_out(json.dumps(content))
        return
    write_whole(path, (json.dumps(content, indent=1) + "\n").encode())
