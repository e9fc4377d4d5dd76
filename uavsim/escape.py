"""Escape text from datasets, with one function for each target format.

Names, towns, categories and reasons come from untrusted datasets. Jinja escapes its pages itself.
"""

import html
import re
from typing import Final

_LONGEST: Final = 4000
_MARKDOWN: Final = re.compile(
    r"[\\`*\[\]|~#$]|(?<![^\W_])_|_(?![^\W_])|^[-+=]|^\d+(?=[.)])|(?<=\w):(?=//)|(?<=\bwww)\."
)
"""Start of emphasis, code, links, tables, mathematics, headings or lists; ``hard_rain`` matches none of these."""
_LATEX: Final = {
    **{character: f"\\{character}" for character in "_%&#${}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}
_FORMULA: Final = ("=", "+", "-", "@")


def visible(text: object) -> str:
    """Return a text for a terminal: one line, control, direction and half characters escaped, long texts shortened."""
    escaped = _spelled_out(text)
    return escaped if len(escaped) <= _LONGEST else f"{escaped[:_LONGEST]} ... ({len(escaped)} characters)"


def html_text(text: object) -> str:
    """Return a text for the content of an HTML element or a quoted attribute."""
    return html.escape(_spelled_out(text))


def markdown_text(text: object) -> str:
    """Return a text for one line of Markdown: no element, link, emphasis, code, table cell or heading begins in it."""
    return _MARKDOWN.sub(
        lambda found: f"&#{ord(found[0][0])};{found[0][1:]}", html.escape(_spelled_out(text), quote=False)
    )


def latex_text(text: object) -> str:
    """Return a text for LaTeX: no command begins in it."""
    return "".join(_LATEX.get(character, character) for character in _spelled_out(text))


def csv_cell(text: object) -> str:
    """Return a text for a CSV cell that spreadsheets do not evaluate as a formula; the CSV writer quotes it."""
    escaped = _spelled_out(text)
    return f"'{escaped}" if escaped.startswith(_FORMULA) else escaped


def word(text: object) -> str:
    """Return a text for a file with fields separated by blanks: one field, never empty."""
    return "_".join(_spelled_out(text).split()) or "_"


def _spelled_out(text: object) -> str:
    plain = str(text)
    if plain.isprintable():
        return plain
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode("ascii") for c in plain
    )
