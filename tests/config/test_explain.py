"""One line for pydantic's many: places, kinds and values as people write them."""

import pytest
from pydantic import ValidationError

from uavsim.config.explain import a_kind, first, key, quoted
from uavsim.config.routes import RoutesConfig


@pytest.mark.parametrize(
    ("place", "text"),
    [((), ""), (("a",), "a"), (("towns", "Town10HD", "scenes"), "towns.Town10HD.scenes"), (("a", 2, "b"), "a[2].b")],
)
def test_places(place, text):
    assert key(place) == text


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "empty"),
        (True, "true or false"),
        (3, "a number"),
        (1.5, "a number"),
        ("x", "text"),
        ([1], "a list"),
        ({}, "a mapping"),
    ],
)
def test_kinds(value, kind):
    assert a_kind(value) == kind


def test_values_are_short_and_quoted():
    assert (quoted(3), quoted("x"), quoted([1, 2]), quoted(None)) == ("3", "'x'", "a list", "nothing")
    long = quoted("x" * 500)
    assert len(long) == 60
    assert long.endswith("...'")


def told(value):
    with pytest.raises(ValidationError) as wrong:
        RoutesConfig.model_validate(value, strict=False)
    place, words, there = first(wrong.value, RoutesConfig, line_of=lambda place: len(place))
    return key(place), words, there


def test_a_misspelt_key_comes_before_the_missing_one_that_it_causes():
    place, words, there = told({"twon": "Town03", "routes": {"a": {"path": [[0, 0], [5, 0]]}}})
    assert place == "twon"
    assert words.startswith("unknown key; did you mean 'town'")
    assert words.endswith("(and 1 more error in this file)")
    assert there


def test_a_missing_key_is_not_in_the_file():
    place, words, there = told({"routes": {"a": {"path": [[0, 0], [5, 0]]}}})
    assert (place, words, there) == ("town", "is missing", False)
