"""Self-contained HTML page of one evaluation: scores, tables and curves as SVG by matplotlib."""

import io
from pathlib import Path
from typing import Any, Final

from uavsim.environment import install_line
from uavsim.errors import InputError
from uavsim.escape import html_text
from uavsim_benchmarks.evaluate.outcome import Curve, Outcome, Table

_STYLE: Final = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:72em;padding:0 1em}"
    "table{border-collapse:collapse;margin:1em 0}td,th{padding:.2em .8em;border-bottom:1px solid #ccc;text-align:right}"
    "td:first-child,th:first-child{text-align:left}figure{display:inline-block;margin:.5em}svg{max-width:100%;height:auto}"
)


def html_page(outcome: Outcome, *, results: Path) -> str:
    """Render the page of an outcome.

    Raises:
        InputError: matplotlib is not installed.
    """
    headline = Table("scores", ("score", "value"), tuple((name, outcome.scores.get(name)) for name in outcome.headline))
    title = f"{outcome.benchmark} ({outcome.mode}): {results.name}"
    body = "".join(_table(table) for table in (headline, *outcome.tables))
    figures = "".join(f"<figure>{svg}</figure>" for svg in _drawn(outcome.curves))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html_text(title)}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{html_text(title)}</h1>{body}{figures}</body></html>\n"
    )


def _table(table: Table) -> str:
    head = "".join(f"<th>{html_text(column)}</th>" for column in table.columns)
    rows = "".join("<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    return f"<h2>{html_text(table.title)}</h2><div style='overflow-x:auto'><table><tr>{head}</tr>{rows}</table></div>"


def _cell(value: object) -> str:
    if value is None or value != value:
        return "n/a"
    return f"{value:.4f}" if isinstance(value, float) else html_text(value)


def _drawn(curves: tuple[Curve, ...]) -> list[str]:
    if not curves:
        return []
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError(f"--html needs matplotlib: {install_line('plots')}") from error
    return [_svg(Figure(figsize=(5.5, 3.8), layout="constrained"), curve) for curve in curves]


def _svg(figure: Any, curve: Curve) -> str:
    axes = figure.subplots()
    for name, (x, y) in curve.lines.items():
        if curve.steps:
            axes.stairs(y, x, label=name, linewidth=2)
        else:
            axes.plot(x, y, label=name, linewidth=1.5)
    if curve.ticks:
        axes.set_xticks([number + 0.5 for number in range(len(curve.ticks))], curve.ticks, rotation=30, ha="right")
    if curve.log_x:
        axes.set_xscale("symlog", linthresh=_lowest_above_zero(curve))
    axes.set(title=curve.title, xlabel=curve.x_label, ylabel=curve.y_label)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    if len(curve.lines) > 1:
        axes.legend(fontsize="small")
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    return svg[svg.index("<svg") :]


def _lowest_above_zero(curve: Curve) -> float:
    """Return the threshold below which the logarithmic axis is linear, so that it can show 0."""
    return min((float(x[x > 0].min()) for x, _ in curve.lines.values() if (x > 0).any()), default=1.0)
