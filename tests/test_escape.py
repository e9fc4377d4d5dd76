"""Markup in names becomes text in all targets."""

import csv
import html
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from uavsim.escape import csv_cell, html_text, latex_text, markdown_text, visible, word

GFM = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
PLANTED = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "[click](javascript:alert(1))",
    "![x](http://x/y.png)",
    "http://evil.example www.evil.example",
    "**bold** _it_ `code` ~~gone~~ $x$",
    "# heading",
    "- item",
    "+ item",
    "12. item",
    "a | b",
    "two\n\n# lines",
    "\x1b[31m\u202ered",
    "&lt;b&gt; &#42;x&#42;",
    "\\*x\\*",
    "===",
]


@pytest.mark.parametrize("text", [*PLANTED, "Town10HD", "hard_rain", "vehicle.car", "a, b; c: 1,200 (0.5)"])
def test_markdown_shows_the_text_alone(text: str) -> None:
    assert not re.search(r"\w://|\bwww\.", markdown_text(text))  # GitHub makes links of these
    tokens = GFM.parse(markdown_text(text))
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    assert {part.type for part in tokens[1].children or ()} <= {"text", "text_special"}
    assert "".join(part.content for part in tokens[1].children or ()) == visible(text).strip()


@pytest.mark.parametrize("text", ["Town10HD", "hard_rain", "vehicle.car", "a, b; c: 1,200 (0.5)"])
def test_plain_names_stay_unchanged(text: str) -> None:
    assert markdown_text(text) == html_text(text) == csv_cell(text) == visible(text) == text


@given(st.text())
def test_html_holds_no_element_and_comes_back(text: str) -> None:
    escaped = html_text(text)
    assert not {"<", ">", '"', "'"} & set(escaped)
    assert html.unescape(escaped).isprintable()
    if text.isprintable():
        assert html.unescape(escaped) == text


@given(st.text())
def test_a_cell_is_no_formula(text: str) -> None:
    written = io.StringIO()
    csv.writer(written).writerow([csv_cell(text)])
    (cell,) = next(csv.reader(io.StringIO(written.getvalue())), [""])
    assert cell[:1] not in {"=", "+", "-", "@", "\t", "\r"}


def test_latex_begins_no_command() -> None:
    assert latex_text("a_b 5% \\input{x} ~^<>$&#") == (
        r"a\_b 5\% \textbackslash{}input\{x\} \textasciitilde{}\textasciicircum{}\textless{}\textgreater{}\$\&\#"
    )


@given(st.text())
def test_word_is_one_field_without_blanks(text: str) -> None:
    assert len(f"a {word(text)} b".split()) == len(f"a {word(text)} b\n".split(" ")) == 3
    assert word("vehicle.car") == "vehicle.car"
