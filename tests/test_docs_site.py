"""The site has every page and loads no external resource."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
CONFIG = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
BUILT = ROOT / "out/site"


def pages(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    for entry in nav if isinstance(nav, list) else nav.values() if isinstance(nav, dict) else ():
        yield from pages(entry)


def test_every_page_has_its_place_in_the_navigation_once() -> None:
    listed = list(pages(CONFIG["nav"]))
    assert len(listed) == len(set(listed))
    assert [name for name in listed if not (ROOT / name).is_file()] == []
    every = {
        str(path.relative_to(ROOT)) for path in [*(ROOT / "docs").glob("*.md"), *ROOT.glob("packages/*/docs/*.md")]
    }
    assert sorted(every - set(listed)) == []


def test_no_font_and_no_drawing_comes_from_a_network() -> None:
    assert CONFIG["theme"]["font"] is False
    for name in pages(CONFIG["nav"]):
        text = (ROOT / name).read_text("utf-8")
        assert "```mermaid" not in text, f"{name}: the theme fetches mermaid from a network; write the drawing as text"
        assert re.findall(r"!\[[^\]]*\]\(https?:", text) == [], name


def test_a_site_that_was_built_asks_no_other_host() -> None:
    built = sorted(BUILT.rglob("*.html"))
    if not built:
        pytest.skip("no site here; scripts/docs builds it")
    for path in built:
        urls = re.findall(r"<(?:script|img|iframe)[^>]*\bsrc=\"?(https?://[^\">\s]+)", path.read_text("utf-8"))
        urls += re.findall(r"<link[^>]*rel=\"?stylesheet\"?[^>]*href=\"?(https?://[^\">\s]+)", path.read_text("utf-8"))
        assert urls == [], path


def test_a_site_that_was_built_finds_users_pages_first() -> None:
    index = BUILT / "search/search_index.json"
    if not index.exists():
        pytest.skip("no site here; scripts/docs builds it")
    boost = {page["location"]: page.get("boost", 1) for page in json.loads(index.read_text("utf-8"))["docs"]}
    assert all((value < 1) == name.startswith((".decisions/", "packages/")) for name, value in boost.items())
    assert "docs/operations.html#resume-look-fly-again" in boost
    assert "docs/troubleshooting.html#out-of-memory" in boost
