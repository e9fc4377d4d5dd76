"""Registries with plug-ins that are really installed: a distribution on ``sys.path``, as pip leaves it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.plugins import install_plugin
from uavsim.errors import InputError, UnknownNameError
from uavsim.registry import Registry


def _shapes(expects: type | None = None) -> Registry[Any]:
    return Registry("test_shapes", {"line": len, "grid": max}, what="shape", expects=expects)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def install(name: str, *, adds: dict[str, str], source: str) -> None:
        monkeypatch.syspath_prepend(
            install_plugin(tmp_path, name, group="uavsim.test_shapes", adds=adds, source=source)
        )

    return install


def test_built_in_names_come_first_and_are_picked_as_given(install: Callable[..., None]) -> None:
    install("ring_shapes", adds={"arc": "ring_shapes:arc"}, source="def arc():\n    return 'bent'\n")

    shapes = _shapes()

    assert shapes.names() == ["line", "grid", "arc"]
    assert shapes.pick("grid") is max
    assert shapes.pick("arc")() == "bent"
    assert shapes.pick("arc") is shapes.pick("arc")


def test_a_typo_is_answered_with_the_plug_in_that_it_meant(install: Callable[..., None]) -> None:
    install("spirals", adds={"spiral": "spirals:nothing"}, source="")

    with pytest.raises(UnknownNameError, match=r"unknown shape 'spirral'; did you mean 'spiral'\?"):
        _shapes().pick("spirral")


def test_a_package_that_breaks_at_import_is_named_in_one_line_and_breaks_nothing_else(
    install: Callable[..., None],
) -> None:
    install("crumbling", adds={"arc": "crumbling:arc"}, source="raise RuntimeError('no libfoo\\nhere')\n")
    shapes = _shapes()

    with pytest.raises(InputError, match=r"package crumbling 1\.2 does not load: RuntimeError: no libfoo$"):
        shapes.pick("arc")

    assert shapes.pick("line") is len


def test_a_package_that_ends_python_at_import_ends_nothing(install: Callable[..., None]) -> None:
    install("leaving", adds={"arc": "leaving:arc"}, source="import sys; sys.exit(0)\n")

    with pytest.raises(InputError, match=r"package leaving 1\.2 does not load: SystemExit: 0$"):
        _shapes().pick("arc")


def test_an_entry_point_without_its_object_is_named(install: Callable[..., None]) -> None:
    install("hollow", adds={"arc": "hollow:arc"}, source="")

    with pytest.raises(InputError, match=r"the package hollow 1\.2 does not load: AttributeError: "):
        _shapes().pick("arc")


def test_a_plug_in_of_the_wrong_kind_is_refused(install: Callable[..., None]) -> None:
    install("numbers_only", adds={"arc": "numbers_only:arc"}, source="arc = 7\n")

    with pytest.raises(InputError, match=r"numbers_only 1\.2: numbers_only:arc is of type int, not Callable$"):
        _shapes(expects=Callable).pick("arc")  # type: ignore[arg-type]


def test_a_name_that_is_claimed_twice_is_refused(install: Callable[..., None]) -> None:
    install("greedy", adds={"line": "greedy:line"}, source="line = 1\n")
    install("twin_one", adds={"arc": "twin_one:arc"}, source="arc = 1\n")
    install("twin_two", adds={"arc": "twin_two:arc"}, source="arc = 2\n")
    shapes = _shapes()

    with pytest.raises(InputError, match=r"^shape 'line' is claimed by uavsim and greedy 1\.2; uninstall all but one$"):
        shapes.pick("line")
    with pytest.raises(InputError, match=r"twin_one 1\.2 and twin_two 1\.2|twin_two 1\.2 and twin_one 1\.2"):
        shapes.pick("arc")
    assert shapes.pick("grid") is max
