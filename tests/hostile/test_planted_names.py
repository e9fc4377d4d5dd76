"""Markup planted in names: reports, cards and tables show it as text."""

import csv
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

import uavsim
from tests.hostile.datasets import VERSION, edit_first, edit_table
from uavsim.access import open_folder
from uavsim.errors import DatasetError
from uavsim.exports.publish import PublishRequest, publish
from uavsim.viewing.report.write import ReportRequest, write_report

GFM = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
HARM = '"><img src=x onerror=alert(1)><script>alert(2)</script>[x](http://x) ![y](http://y) $z$ `q` **b** =1+1'
FIELDS = [
    ("log", "location"),
    ("log", "uav_weather"),
    ("log", "uav_simulator"),
    ("log", "uav_server_version"),
    ("log", "uav_formation"),
    ("log", "uav_route"),
    ("category", "name"),
    ("scene", "name"),
    ("sensor", "channel"),
]
OF_PATHS = {("scene", "name"), ("sensor", "channel"), ("category", "name")}  # names without slashes


class Outline(HTMLParser):
    """Collect tags, and the names of their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: set[tuple[str, str]] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements |= {(tag, name) for name, _ in attrs} | {(tag, "")}


def outline(html: str) -> set[tuple[str, str]]:
    parser = Outline()
    parser.feed(html)
    return parser.elements


def published_card(root: Path, out: Path, name: str = "tiny") -> set[tuple[str, str]]:
    """Publish a dataset; returns the outline of its card."""
    publish(uavsim.open(root), out, PublishRequest(name=name, date="2026-01-02"))
    return outline(GFM.render((out / "README.md").read_text().split("---", 2)[2]))


@pytest.mark.parametrize(("table", "field"), FIELDS)
def test_card_and_report_show_text(tiny: Path, tiny_copy: Path, tmp_path: Path, table: str, field: str) -> None:
    edit_first(tiny_copy, table, **{field: HARM.replace("/", "") if (table, field) in OF_PATHS else HARM})
    cards, pages = [], []
    for name, root in (("clean", tiny), ("harm", tiny_copy)):
        cards.append(published_card(root, tmp_path / name))
        write_report(open_folder(root, VERSION), tmp_path / f"{name}.html", ReportRequest())
        pages.append(outline((tmp_path / f"{name}.html").read_text()))
    assert cards[1] <= cards[0]
    squeezed = {("text", "textlength"), ("text", "lengthadjust")}  # of a label that is longer than its column
    assert pages[1] <= pages[0] | squeezed | {("details", ""), ("summary", ""), ("ul", ""), ("li", "")}


def test_dataset_name_is_text_in_the_card(tiny: Path, tmp_path: Path) -> None:
    card = published_card(tiny, tmp_path / "pack", HARM.replace("/", ""))
    assert not {tag for tag, _ in card} & {"img", "script", "a"}


@pytest.mark.parametrize("value", ["a: b", 'x") ; import os', "```", "=x", "x\\y"])
def test_split_name_that_breaks_code_is_refused(tiny_copy: Path, tmp_path: Path, value: str) -> None:
    (tiny_copy / VERSION / "splits.json").write_text(json.dumps({value: ["scene_00"]}))
    with pytest.raises(DatasetError):
        publish(uavsim.open(tiny_copy), tmp_path / "pack", PublishRequest())


def test_file_named_like_a_formula_is_escaped_in_the_index(tiny_copy: Path, tmp_path: Path) -> None:
    def rename_first(rows: list[dict[str, Any]]) -> None:
        row = next(row for row in rows if row["fileformat"] == "png")
        renamed = tiny_copy / f"=1+1/{row['filename']}"
        renamed.parent.mkdir(parents=True)
        (tiny_copy / row["filename"]).rename(renamed)
        row["filename"] = str(renamed.relative_to(tiny_copy))

    edit_table(tiny_copy, "sample_data", rename_first)
    publish(uavsim.open(tiny_copy), tmp_path / "pack", PublishRequest())
    with (tmp_path / "pack/shards/index.csv").open() as file:
        names = [row["file"] for row in csv.DictReader(file)]
    assert any(name.startswith("'=1+1/") for name in names)
    assert not any(name.startswith("=") for name in names)
