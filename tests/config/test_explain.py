"""One-line explanations of pydantic's errors: places, kinds and values in YAML terms."""

from typing import Annotated

import pytest
from pydantic import Field, ValidationError

from uavsim.config.base import Model
from uavsim.config.explain import first, key, quoted
from uavsim.config.routes import RoutesConfig
from uavsim.config.run import RunConfig


def test_values_are_short_and_quoted():
    assert (quoted(3), quoted("x"), quoted([1, 2]), quoted(None)) == ("3", "'x'", "a list", "nothing")
    long = quoted("x" * 500)
    assert len(long) == 60
    assert long.endswith("...'")


def reported(value, model=RoutesConfig):
    with pytest.raises(ValidationError) as wrong:
        model.model_validate(value, strict=False)
    key_path, message, in_file = first(wrong.value, model, line_of=len)
    return key(key_path), message, in_file


def test_a_misspelt_key_comes_before_the_missing_one_that_it_causes():
    dotted_key, message, in_file = reported({"twon": "Town03", "routes": {"a": {"path": [[0, 0], [5, 0]]}}})
    assert dotted_key == "twon"
    assert message.startswith("unknown key; did you mean 'town'")
    assert message.endswith("(and 1 more error in this file)")
    assert in_file


def test_a_missing_key_is_not_in_the_file():
    dotted_key, message, in_file = reported({"routes": {"a": {"path": [[0, 0], [5, 0]]}}})
    assert (dotted_key, message, in_file) == ("town", "is missing", False)


@pytest.mark.parametrize(
    ("simulators", "dotted_key", "message"),
    [
        ([{"kind": "moc"}], "simulators[0].kind", "unknown value 'moc'; did you mean 'mock'?"),
        ([{"kind": "attach"}], "simulators[0]", "kind attach needs ports, for example ports: {carla: 2000}"),
        (
            [{"kind": "mock"}, {"kind": "attach"}],
            "simulators[1]",
            "kind attach needs ports, for example ports: {carla: 2000}",
        ),
        ([], "simulators", "the list must have at least 1 item, not 0, got a list"),
    ],
)
def test_a_list_is_not_called_too_short_for_a_wrong_item(simulators, dotted_key, message):
    assert reported({"simulators": simulators}, RunConfig) == (dotted_key, message, True)


class Holder(Model):
    """A model with non-empty containers of every kind."""

    pair: Annotated[tuple[int, ...], Field(min_length=2)] = (1, 2)
    named: Annotated[dict[str, int], Field(min_length=1)] = Field(default={"a": 1})


@pytest.mark.parametrize(
    ("value", "dotted_key", "message"),
    [
        ({"pair": (0.5, 2)}, "pair[0]", "must be a whole number, got 0.5"),
        ({"named": {"a": 0.5}}, "named.a", "must be a whole number, got 0.5"),
        ({"pair": (0.5,)}, "pair[0]", "must be a whole number, got 0.5 (and 1 more error in this file)"),
    ],
)
def test_what_is_wrong_with_an_item_is_reported_before_that_there_are_too_few(value, dotted_key, message):
    assert reported(value, Holder) == (dotted_key, message, True)
