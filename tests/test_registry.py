"""Registries with installed plug-ins: distributions on ``sys.path``, as installed by pip."""

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


def test_a_typo_suggests_the_plug_in(install: Callable[..., None]) -> None:
    install("spirals", adds={"spiral": "spirals:nothing"}, source="")

    with pytest.raises(UnknownNameError, match=r"unknown shape 'spirral'; did you mean 'spiral'\?"):
        _shapes().pick("spirral")


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        (
            "crumbling",
            "raise RuntimeError('no libfoo\\nhere')\n",
            r"crumbling 1\.2 does not load: RuntimeError: no libfoo$",
        ),
        ("leaving", "import sys; sys.exit(0)\n", r"leaving 1\.2 does not load: SystemExit: 0$"),
        ("hollow", "", r"hollow 1\.2 does not load: AttributeError: "),
        ("numbers_only", "arc = 7\n", r"numbers_only 1\.2: numbers_only:arc is of type int, not Callable$"),
    ],
)
def test_a_package_that_breaks_ends_python_or_lacks_its_object_is_named_in_one_line_and_breaks_nothing_else(
    install: Callable[..., None], name: str, source: str, message: str
) -> None:
    install(name, adds={"arc": f"{name}:arc"}, source=source)
    shapes = _shapes(expects=Callable)  # type: ignore[arg-type]

    with pytest.raises(InputError, match=f"package {message}"):
        shapes.pick("arc")

    assert shapes.pick("line") is len


def test_a_name_that_is_claimed_twice_is_refused(install: Callable[..., None]) -> None:
    install("greedy", adds={"line": "greedy:line"}, source="line = 1\n")
    install("twin_one", adds={"arc": "twin_one:arc"}, source="arc = 1\n")
    install("twin_two", adds={"arc": "twin_two:arc"}, source="arc = 2\n")
    shapes = _shapes()

    with pytest.raises(InputError, match=r"^shape 'line' is defined by uavsim and greedy 1\.2; uninstall all but one$"):
        shapes.pick("line")
    with pytest.raises(InputError, match=r"twin_one 1\.2 and twin_two 1\.2|twin_two 1\.2 and twin_one 1\.2"):
        shapes.pick("arc")
    assert shapes.pick("grid") is max
