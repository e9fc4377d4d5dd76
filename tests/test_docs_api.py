"""The API reference has every public name with a docstring, and arrays have shapes."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import griffe
import pytest

import uavsim
from uavsim_benchmarks import evaluate

ROOT = Path(__file__).parents[1]
PACKAGES = [path.parent for path in sorted(ROOT.glob("packages/*/src/*/__init__.py")) if "baselines" not in path.parts]
PAGES = sorted((ROOT / "docs").glob("api*.md"))
SHAPE = re.compile(r"\((?:\.\.\.|[A-Za-z0-9+ ]+)(?:, [A-Za-z0-9+ ]+)*,?\)")
NO_LIBRARY = {"commands", "controls", "dividers", "areas", "lanes", "changes"}  # parts of the maps' ``build``
SCORES = {name: getattr(evaluate, name) for name in evaluate.__all__}
BUILT = ROOT / "out/site/docs"


def reference_names() -> list[str]:
    return [name for page in PAGES for name in re.findall(r"^::: ([\w.]+)$", page.read_text("utf-8"), re.MULTILINE)]


@cache
def sources() -> griffe.ModulesCollection:
    loader = griffe.GriffeLoader(search_paths=[ROOT, *(path.parent for path in PACKAGES)], docstring_parser="google")
    for package in ("uavsim", *(path.name for path in PACKAGES)):
        loader.load(package)
    loader.resolve_aliases(external=False)
    return loader.modules_collection


def members(name: str) -> Iterator[griffe.Object]:
    """Yield the reference's objects of a name: itself, public names of a module, public members of a class."""
    found = sources()[name]
    waiting = [found.final_target if found.is_alias else found]
    while waiting:
        each = waiting.pop()
        yield each
        for inner in each.members.values() if each.is_module or each.is_class else ():
            is_defined_here = not inner.is_alias or each.path == "uavsim"
            if is_defined_here and inner.is_public and not inner.name.startswith("_") and not inner.is_module:
                waiting.append(inner.final_target if inner.is_alias else inner)


def test_every_public_name_is_in_the_reference() -> None:
    names = set(reference_names())
    assert "uavsim" in names
    assert {score.__module__ for score in SCORES.values()} <= names
    modules = {path.stem for path in (ROOT / "uavsim/maps").glob("[a-z]*.py")} - NO_LIBRARY
    assert {f"uavsim.maps.{module}" for module in modules} <= names
    voxels = {path.stem for path in (ROOT / "uavsim/occupancy").glob("[a-z]*.py")} - NO_LIBRARY
    assert {f"uavsim.occupancy.{module}" for module in voxels} <= names
    probing = {path.stem for path in (ROOT / "uavsim/probing").glob("[a-z]*.py")} - NO_LIBRARY
    assert {f"uavsim.probing.{module}" for module in probing} <= names
    assert {"uavsim.replays.requests", "uavsim.replays.twins"} <= names
    assert {"uavsim.viewing.report", "uavsim.viewing.view"} <= names
    assert {"headless_simulator.testing", "headless_simulator.pytest_plugin"} <= names
    for group in re.findall(r"`(\w+)`[^|]*\| \d", (ROOT / "docs/extending.md").read_text("utf-8")):
        assert any(name.endswith(f".{group}") for name in names) or group[0].islower(), group


def test_every_name_says_what_it_is_and_arrays_have_shapes() -> None:
    missing, shapeless = [], []
    for each in (member for name in reference_names() for member in members(name)):
        if each.is_attribute and "property" not in each.labels:
            continue  # in the docstring of its class
        text = each.docstring.value if each.docstring else ""
        if not text:
            missing.append(each.path)
        arrays = [str(p.annotation) for p in getattr(each, "parameters", ())] if each.is_function else []
        arrays += [str(getattr(each, "returns", "") or getattr(each, "annotation", ""))]
        if "dataclass" in each.labels:
            arrays = [str(field.annotation) for field in each.attributes.values() if "property" not in field.labels]
        has_arrays = any("Array" in annotation and "Callable" not in annotation for annotation in arrays)
        if has_arrays and not SHAPE.search(text):
            shapeless.append(each.path)
    assert missing == []
    assert shapeless == []


def test_the_built_site_has_every_name() -> None:
    if not (BUILT / "api.html").is_file():
        pytest.skip("no site here; scripts/docs builds it")
    text = (BUILT / "api.html").read_text("utf-8")
    assert [name for name in uavsim.__all__ if f'id="uavsim.{name}"' not in text] == []
    text = (BUILT / "api-benchmarks.html").read_text("utf-8")
    paths = [f"{score.__module__}.{name}" for name, score in SCORES.items()]
    assert [path for path in paths if f'id="{path}"' not in text] == []
