"""``uavsim evaluate``: score a result file by a benchmark's own rules."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from uavsim.errors import InputError
from uavsim.files.whole import write_whole
from uavsim.terminal import Screen, write_out
from uavsim_benchmarks.evaluate.latex import latex_rows
from uavsim_benchmarks.evaluate.metrics import evaluate as run_metric
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest, Outcome
from uavsim_benchmarks.evaluate.page import html_page

__all__ = ["evaluate"]

_PRINTED = Path("-")


def evaluate(
    benchmark: Annotated[str, typer.Argument(help="nuscenes-detection, uav3d, swarm, ... (uavsim list metrics).")],
    *,
    truth: Annotated[Path, typer.Option(help="A dataset's folder, or the benchmark's own ground-truth file.")],
    results: Annotated[Path, typer.Option(help="The benchmark's own result file.")],
    mode: Annotated[
        str, typer.Option(help="official: as the reference code; corrected: without its errors.")
    ] = "official",
    version: Annotated[str | None, typer.Option(help="Version folder of a dataset; default: the only one.")] = None,
    split: Annotated[str | None, typer.Option(help="Split of splits.json; default: the scenes in the results.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(help="Option of the benchmark, NAME=VALUE (uavsim list metrics); repeat for more."),
    ] = None,
    report: Annotated[Path | None, typer.Option("--json", help="JSON file for all scores; - prints them.")] = None,
    page: Annotated[Path | None, typer.Option("--html", help="HTML file for scores and curves.")] = None,
    latex: Annotated[bool, typer.Option("--latex", help="Print rows for a paper instead of tables.")] = False,
) -> None:
    """Run ``uavsim evaluate``."""
    request = EvaluationRequest(truth, results, mode, version, split, _options(option or []))
    outcome = run_metric(benchmark, request)
    files = {}
    if page:
        files[page] = html_page(outcome, results=results)
    if report == _PRINTED:
        write_out(json.dumps(outcome.as_json(), allow_nan=False))
    elif report:
        files[report] = json.dumps(outcome.as_json(), indent=1, allow_nan=False) + "\n"
    if latex:
        typer.echo(latex_rows(outcome, name=results.stem), nl=False)
    else:
        _show(Screen(quiet=report == _PRINTED), outcome)
    for path, text in files.items():
        write_whole(path, text.encode())


def _options(pairs: list[str]) -> dict[str, str]:
    options = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise InputError(f"--option {pair}: must be NAME=VALUE, for example range=50")
        options[name] = value
    return options


def _show(console: Screen, outcome: Outcome) -> None:
    for table in outcome.tables:
        rich_table = Table(*table.columns, title=table.title, title_justify="left", box=None, pad_edge=False)
        for row in table.rows:
            rich_table.add_row(*(_cell(value) for value in row))
        console.print(rich_table)
    for name in outcome.headline:
        console.print(f"  {name}: {_cell(outcome.scores.get(name))}", highlight=False)


def _cell(value: object) -> str:
    if value is None or value != value:
        return "n/a"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
