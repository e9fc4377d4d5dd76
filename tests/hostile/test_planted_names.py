"""A name that means harm in every field that is shown: pages, cards and tables show it as text."""

import csv
import json
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

import uavsim
from tests.dataset_factory import make_dataset
from uavsim.access import open_folder
from uavsim.errors import DatasetError
from uavsim.exports.publish import PublishRequest, publish
from uavsim.viewing.report.write import ReportRequest, write_report

V = "v1.0-mini"
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
OF_PATHS = {("scene", "name"), ("sensor", "channel"), ("category", "name")}  # no slash is let through anyway


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clean") / "set"
    return make_dataset(folder, scenes=1, samples=2, sweeps=0, drones=1, size_px=(64, 36))


def planted(clean: Path, root: Path, table: str, field: str, value: str) -> Path:
    shutil.copytree(clean, root)
    path = root / V / f"{table}.json"
    rows: list[dict[str, Any]] = json.loads(path.read_bytes())
    rows[0][field] = value
    path.write_text(json.dumps(rows))
    return root


class Outline(HTMLParser):
    """Collects tags and their attributes' names."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[tuple[str, str]] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen |= {(tag, name) for name, _ in attrs} | {(tag, "")}


def outline(html: str) -> set[tuple[str, str]]:
    parser = Outline()
    parser.feed(html)
    return parser.seen


@pytest.mark.parametrize(("table", "field"), FIELDS)
def test_card_and_report_show_text(clean: Path, tmp_path: Path, table: str, field: str) -> None:
    harm = HARM.replace("/", "") if (table, field) in OF_PATHS else HARM
    root = planted(clean, tmp_path / "set", table, field, harm)
    pages = []
    for name, folder in (("clean", clean), ("harm", root)):
        publish(uavsim.open(folder), tmp_path / name, PublishRequest(name="tiny", date="2026-01-02"))
        write_report(open_folder(folder, V), tmp_path / f"{name}.html", ReportRequest())
        card = (tmp_path / name / "README.md").read_text().split("---", 2)[2]
        pages.append((outline(GFM.render(card)), outline((tmp_path / f"{name}.html").read_text())))
    (clean_card, page), (harmed_card, harmed_page) = pages
    assert harmed_card <= clean_card
    squeezed = {("text", "textlength"), ("text", "lengthadjust")}  # ours, where a label is longer than its column
    assert harmed_page <= page | squeezed | {("details", ""), ("summary", ""), ("ul", ""), ("li", "")}


def test_a_name_of_the_dataset_is_text_in_the_card(clean: Path, tmp_path: Path) -> None:
    harm = HARM.replace("/", "")
    publish(uavsim.open(clean), tmp_path / "pack", PublishRequest(name=harm, date="2026-01-02"))
    card = (tmp_path / "pack/README.md").read_text().split("---", 2)[2]
    assert not {tag for tag, _ in outline(GFM.render(card))} & {"img", "script", "a"}


@pytest.mark.parametrize("value", ["a: b", 'x") ; import os', "```", "=x", "x\\y"])
def test_a_split_that_cannot_stand_in_code_is_refused(clean: Path, tmp_path: Path, value: str) -> None:
    root = shutil.copytree(clean, tmp_path / "set")
    (root / V / "splits.json").write_text(json.dumps({value: ["scene_00"]}))
    with pytest.raises(DatasetError):
        publish(uavsim.open(root), tmp_path / "pack", PublishRequest())


def test_a_file_that_is_named_as_a_formula_is_none_in_the_index(clean: Path, tmp_path: Path) -> None:
    def moved(row: dict[str, Any]) -> str:
        return f"=1+1/{row['filename']}"

    root = rename_first(clean, tmp_path / "set", moved)
    publish(uavsim.open(root), tmp_path / "pack", PublishRequest())
    with (tmp_path / "pack/shards/index.csv").open() as file:
        names = [row["file"] for row in csv.DictReader(file)]
    assert any(name.startswith("'=1+1/") for name in names)
    assert not any(name.startswith("=") for name in names)


def rename_first(clean: Path, root: Path, name: Callable[[dict[str, Any]], str]) -> Path:
    shutil.copytree(clean, root)
    path = root / V / "sample_data.json"
    rows = json.loads(path.read_bytes())
    row = next(row for row in rows if row["fileformat"] == "png")
    new = root / name(row)
    new.parent.mkdir(parents=True)
    (root / row["filename"]).rename(new)
    row["filename"] = str(new.relative_to(root))
    path.write_text(json.dumps(rows))
    return root
