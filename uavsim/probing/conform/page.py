"""The HTML page of a comparison, without scripts and network access."""

from collections import Counter
from typing import Final

from uavsim.escape import html_text
from uavsim.probing.conform.answers import Answer, AnswerFile
from uavsim.probing.conform.comparison import Compared, Result, by_capability

_STYLE: Final = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:76em;padding:0 1em;color:#1b1f24;background:#fff}"
    "table{border-collapse:collapse;margin:.5em 0 2em;width:100%}td,th{padding:.25em .7em;border-bottom:1px solid #ddd;"
    "text-align:left;vertical-align:top}td:first-child{min-width:9em}th{font-weight:600}.v{white-space:nowrap;font-weight:600}"
    ".as{color:#1a7f37}.other{color:#b35900}.not{color:#b3261e}.shown{color:#666}div{overflow-x:auto}"
    "@media(prefers-color-scheme:dark){body{color:#e6e6e6;background:#16181b}td,th{border-color:#3a3f45}"
    ".as{color:#4cc26a}.other{color:#f0a04b}.not{color:#ff7a70}.shown{color:#999}}"
)
_RULES: Final = {
    "equal": "the same",
    "near": "within {bound}",
    "at_most": "at most {bound}",
    "at_least": "at least {bound}",
    "holds_all": "holds all of these",
    "shown": "not compared",
}
_MOST_NAMES: Final = 6


def page_of(tested: AnswerFile, reference: AnswerFile, found: list[Compared]) -> str:
    """Return the page as HTML."""
    groups = list(by_capability(found))
    counts = Counter(result for _, result, _ in groups)
    head = ", ".join(f"{counts[v]} {v}" for v in ("as here", "other", "not there") if counts[v])
    title = f"{tested.simulator} {tested.server}, {tested.town}"
    reference_name = html_text(f"{reference.simulator} {reference.server}, {reference.town}")
    clients = f"client {tested.client}" + (f", AirSim {tested.airsim}" if tested.airsim else "")
    lines = [
        f"<h1>{html_text(title)}</h1><p>Compared with the answers of {reference_name}: of {len(groups)} capabilities {head}. "
        f"Asked {html_text(tested.started)} in {tested.seconds:.0f} s with {html_text(clients)}.</p>",
        _table(
            ["capability", "result", "questions that differ"],
            [[html_text(name), _badge(v), _differ(q)] for name, v, q in groups],
        ),
    ]
    for name, result, questions in groups:
        rows = [
            [html_text(c.answer.question), _cell(c.answer), _cell(c.reference), _rule(c), _badge(c.result)]
            for c in questions
        ]
        lines.append(f"<h2>{html_text(name)} {_badge(result)}</h2>")
        lines.append(_table(["question", "this simulator", "reference", "the same when", ""], rows))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{html_text(title)}</title><style>{_STYLE}</style></head><body>{''.join(lines)}</body></html>\n"
    )


def _table(head: list[str], rows: list[list[str]]) -> str:
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<div><table><tr>{''.join(f'<th>{html_text(h)}</th>' for h in head)}</tr>{body}</table></div>"


def _badge(result: Result) -> str:
    return f'<span class="v {result.split()[0]}">{"not compared" if result == "shown" else result}</span>'


def _differ(questions: list[Compared]) -> str:
    names = [html_text(c.answer.question) for c in questions if c.result in {"other", "not there"}]
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return "; ".join(names[:_MOST_NAMES]) + more


def _cell(answer: Answer | None) -> str:
    if answer is None:
        return "not asked"
    if answer.value is None:
        return f"not there{': ' + html_text(answer.note) if answer.note else ''}"
    if isinstance(answer.value, list):
        words = [html_text(_word(v)) for v in answer.value]
        if answer.rule == "holds_all" and len(words) > _MOST_NAMES:
            return f"<details><summary>{len(words)} names</summary>{', '.join(words)}</details>"
        return ", ".join(words) + (f" {html_text(answer.unit)}" if answer.unit else "")
    return html_text(_word(answer.value)) + (f" {html_text(answer.unit)}" if answer.unit else "")


def _word(value: bool | float | str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _rule(compared: Compared) -> str:
    one = compared.reference or compared.answer
    bound = f"{one.tolerance:g}{' ' + one.unit if one.unit else ''}"
    return html_text(_RULES[one.rule].format(bound=bound)) + (" (in the same town)" if one.town_only else "")
