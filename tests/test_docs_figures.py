"""Counts and lists in the pages agree with the code."""

import configparser
import re
from pathlib import Path

import pytest

from tools.trials.fault_matrix import Moments, table
from uavsim.config.backends import BACKENDS
from uavsim.dataset.dialects import DIALECTS
from uavsim.dataset.rows import SampleAnnotationRow
from uavsim.dataset.schema import REQUIRED, TABLES
from uavsim.dataset.vocabulary import SEMANTIC_TAGS
from uavsim.exports.formats import EXPORTERS
from uavsim.records.label_columns import COLUMNS
from uavsim.records.lidarseg import ALL_CATEGORIES
from uavsim.records.modalities import MODALITIES
from uavsim.records.plan import WEATHER_PARAMETERS
from uavsim.validate import shapes
from uavsim_benchmarks.evaluate.metrics import METRICS

ROOT = Path(__file__).parents[1]
REGISTRIES = (BACKENDS, DIALECTS, EXPORTERS, METRICS, COLUMNS, MODALITIES)


def page(name: str) -> str:
    """Return a page with its lines joined."""
    return " ".join((ROOT / "docs" / name).read_text("utf-8").split())


@pytest.mark.parametrize(
    ("name", "sentence", "count"),
    [
        ("formats.md", r"(\d+) tables, splits.json", len(REQUIRED)),
        ("formats.md", r"semantic tag \((\d+) tags", len(SEMANTIC_TAGS) - 1),  # and "unlabeled"
        ("formats.md", r"all (\d+) categories", len(ALL_CATEGORIES)),
        ("formats-tables.md", r"CARLA's palette of (\d+) and \"unlabeled\"", len(SEMANTIC_TAGS) - 1),
        ("formats-tables.md", r"CARLA's (\d+) weather parameters", len(WEATHER_PARAMETERS)),
        ("configuration-scenes.md", r"any of the (\d+) parameters", len(WEATHER_PARAMETERS)),
        ("benchmarks.md", r"(\d+) rows\. Every run", len(list(table(Moments(1, [2, 3, 4], 5))))),
        ("validation-checks.md", r"The (\d+) tables are there", len(REQUIRED)),
        ("validation-checks.md", r"(\d+) known blueprints", len(shapes._KNOWN_HALF_M)),
        ("validation.md", r"true sizes of (\d+) blueprints", len(shapes._KNOWN_HALF_M)),
    ],
)
def test_a_page_counts_what_is_there(name: str, sentence: str, count: int) -> None:
    (reported,) = re.findall(sentence, page(name))
    assert int(reported) == count


def test_the_page_on_tables_names_every_table_and_column_of_a_box() -> None:
    text = page("formats-tables.md")
    ours = {table.name for table in TABLES} - {"lidarseg"}  # described with the lidar's files
    columns = {name for name in SampleAnnotationRow.__annotations__ if name.startswith("uav_")} | set(COLUMNS.builtin)
    assert [name for name in sorted(ours | columns) if f"`{name}`" not in text] == []


def test_the_page_on_extending_names_every_kind_of_plug_in() -> None:
    text = page("extending.md")
    assert [registry.group for registry in REGISTRIES if f"`{registry.group}`" not in text] == []


def test_the_architecture_has_the_packages_of_the_import_contract() -> None:
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter", "utf-8")
    sections = (contracts[name] for name in contracts.sections())
    layers = next(s["layers"].split("\n")[1:] for s in sections if s.get("containers", "").split() == ["uavsim"])
    table = (ROOT / "docs/architecture.md").read_text("utf-8").split("| packages, top to bottom |")[1].split("\n\n")[0]
    packages = [set(re.findall(r"`(\w+)`", line.split("|")[1])) for line in table.splitlines()[2:]]
    assert packages == [set(re.findall(r"\w+", layer)) for layer in layers]


def test_every_how_to_page_is_in_the_table_of_what_can_be_added() -> None:
    text = (ROOT / "docs/extending.md").read_text("utf-8")
    pages = sorted(path.name for path in (ROOT / "docs").glob("how-to-add-*.md"))
    assert len(pages) == 6
    assert [name for name in pages if f"({name})" not in text] == []
