import base64
import html.parser
import itertools
import json
import re
import shutil
from pathlib import Path

import pytest

import uavsim
from uavsim.access.origin import HEADLESS_LIMIT
from uavsim.images.codec import decode_rgb
from uavsim.viewing.report import ReportRequest, write_report


class Outline(html.parser.HTMLParser):
    """Collect the page's elements for readers and screen readers."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        if "id" in found:
            self.ids.append(found["id"])


@pytest.fixture(scope="module")
def page(strict: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    assert write_report(uavsim.open(strict), path, ReportRequest(pixels=True)) == path.stat().st_size
    return path.read_text("utf-8")


def test_page_is_self_contained(page: str) -> None:
    outline = Outline(page)
    sources = [a[key] for tag, a in outline.tags for key in ("src", "href", "xlink:href") if key in a]
    assert [s for s in sources if not s.startswith(("data:image/", "#"))] == []
    assert "script" not in {tag for tag, _ in outline.tags}
    assert "url(http" not in page


def test_page_is_accessible(page: str) -> None:
    outline = Outline(page)
    assert len(outline.ids) == len(set(outline.ids))
    images = [a for tag, a in outline.tags if tag == "img"]
    assert all(a.get("alt") for a in images)
    for a in images:  # a lazy image without its size shifts the layout
        jpeg = decode_rgb(base64.b64decode(a["src"].partition(",")[2]))
        assert (int(a["width"]), int(a["height"])) == jpeg.shape[1::-1]
    assert page.count('role="img" aria-label="Map of ') == page.count("<clipPath") > 0
    assert ("html", {"lang": "en"}) in outline.tags
    assert {"main", "nav", "header"} <= {tag for tag, _ in outline.tags}
    headings = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch(r"h[1-6]", tag)]
    assert headings[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(headings))
    targets = [a["href"][1:] for tag, a in outline.tags if tag == "a"]
    assert set(targets) <= set(outline.ids)
    assert "prefers-color-scheme: dark" in page
    assert "currentColor" in page


def test_page_shows_counts_of_the_tables(strict: Path, page: str) -> None:
    data = uavsim.open(strict)
    boxes = sum(len(sample.boxes) for sample in data.samples())
    assert f"<dt>boxes</dt><dd>{boxes}</dd>" in page
    assert page.count('src="data:image/jpeg') >= 2
    for text in ("boxes by class", "distance to the nearest drone", "occlusion in one image", "3,300,000", "scene_01"):
        assert text in page
    assert "rarest boxes by class, distance and visibility" in page
    assert "<dt>near duplicates</dt><dd>0 samples: nothing moved 0.5 m</dd>" in page


def test_names_of_a_foreign_dataset_are_escaped(strict: Path, tmp_path: Path) -> None:
    shutil.copytree(strict, tmp_path / "copy")
    path = tmp_path / "copy/v1.0-mini/category.json"
    path.write_text(path.read_text().replace('"vehicle.car"', '"<script>alert(1)<b>"'))
    out = tmp_path / "report.html"
    write_report(uavsim.open(tmp_path / "copy"), out, ReportRequest(check=False))
    assert "<script>" not in out.read_text("utf-8")
    assert "&lt;script&gt;" in out.read_text("utf-8")


def test_other_dialects_and_foreign_datasets_are_reported(uav3d: Path, foreign: Path, tmp_path: Path) -> None:
    write_report(uavsim.open(uav3d), tmp_path / "report.html", ReportRequest(check=False))
    assert "dialect uav3d" in (tmp_path / "report.html").read_text("utf-8")
    write_report(uavsim.open(foreign), tmp_path / "report.html", ReportRequest(check=False))
    text = (tmp_path / "report.html").read_text("utf-8")
    assert "has no position of its map mask" in text
    assert "occlusion in one image" not in text


def test_page_begins_with_the_origin_of_the_images(strict: Path, foreign: Path, tmp_path: Path) -> None:
    shutil.copytree(strict, tmp_path / "copy")
    path = tmp_path / "copy/v1.0-mini/log.json"
    rows = [row | {"uav_simulator": "headless"} for row in json.loads(path.read_text())]
    path.write_text(json.dumps(rows))
    out = tmp_path / "report.html"
    write_report(uavsim.open(tmp_path / "copy"), out, ReportRequest(check=False))
    header = out.read_text("utf-8").partition("</header>")[0]
    assert header.index(HEADLESS_LIMIT) < header.index("dialect strict")
    assert "carla" not in header.partition("</h1>")[2]
    write_report(uavsim.open(foreign), out, ReportRequest(check=False))
    assert 'class="origin"' not in out.read_text("utf-8")


def test_large_image_has_its_mask_and_inapplicable_checks_are_not_listed(
    strict: Path, foreign: Path, tmp_path: Path
) -> None:
    out = tmp_path / "report.html"
    write_report(uavsim.open(strict), out, ReportRequest())
    texts = [a["alt"] for tag, a in Outline(out.read_text("utf-8")).tags if tag == "img"]
    assert "with its boxes" in texts[0]
    assert "Instance mask of CAMERA_" in texts[1]
    assert "checks were left out: images were not decoded" in out.read_text("utf-8")
    assert "encounters.rows" not in out.read_text("utf-8")
    write_report(uavsim.open(foreign), out, ReportRequest(pixels=True))
    assert "left out: no instance masks" in out.read_text("utf-8")
    assert "could not be made" not in out.read_text("utf-8")
