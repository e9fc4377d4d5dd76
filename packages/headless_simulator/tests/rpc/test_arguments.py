from typing import Any, NamedTuple

import pytest
from headless_simulator.errors import BadArgument
from headless_simulator.rpc.arguments import (
    Anything,
    Flag,
    Integer,
    Number,
    Text,
    WrongCount,
    any_number,
    array,
    array_of,
    flag,
    integer,
    number,
    row_of,
    signature_of,
    text,
)


def spawn(_context: object, actor: Integer, height_m: Number = 1.0, *_rest: Anything) -> None:
    """Nothing."""


def rename(_context: object, name: Text, broadcast: Flag) -> None:
    """Nothing."""


class Pace(NamedTuple):
    speed_mps: Number
    lasts_s: Number = 5


def walk(_context: object, actor: Integer, pace: Pace, name: Text = "") -> None:
    """Nothing."""


def undeclared(_context: object, name: str) -> None:
    """Nothing."""


def test_arguments_are_read_as_the_signature_declares() -> None:
    signature = signature_of(spawn)

    assert signature.read([7]) == [7]
    assert signature.read([7, 2]) == [7, 2.0]
    assert signature.read([7, 2, "more", None]) == [7, 2.0, "more", None]
    assert (signature.required, signature.expected, signature.index_of("height_m")) == (1, "1 or more", 1)


def test_grouped_arguments_become_one_named_tuple() -> None:
    signature = signature_of(walk)

    assert signature.read([7, 2]) == [7, Pace(2.0, 5)]
    assert signature.read([7, 2, 3, "a"]) == [7, Pace(2.0, 3.0), "a"]
    assert (signature.required, signature.expected, signature.index_of("name")) == (2, "2 to 4", 3)
    with pytest.raises(BadArgument, match="lasts_s must be a number"):
        signature.read([7, 2, "a"])


@pytest.mark.parametrize(("arguments", "got"), [([], 0), (["a"], 1), (["a", True, 3], 3)])
def test_wrong_argument_count_is_refused(arguments: list[Any], got: int) -> None:
    with pytest.raises(WrongCount, match=f"expected 2 arguments, got {got}"):
        signature_of(rename).read(arguments)


def test_a_wrong_type_is_named_with_its_parameter() -> None:
    with pytest.raises(BadArgument, match="broadcast must be true or false, not 'yes'"):
        signature_of(rename).read(["a", "yes"])


def test_parameter_without_reader_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="parameter 'name' has no reader"):
        signature_of(undeclared)


@pytest.mark.parametrize(
    ("read", "wrong"),
    [
        (number, float("nan")),
        (number, "1"),
        (number, True),
        (any_number, 10**400),
        (integer, 1.0),
        (integer, False),
        (flag, 1.0),
        (flag, None),
        (text, 5),
        (array, "abc"),
        (array_of(integer), [1, "2"]),
        (array_of(integer, least=2), [1]),
        (array_of(integer, most=2), [1, 2, 3]),
        (row_of(("x", number), ("y", number)), [1.0]),
    ],
)
def test_invalid_values_are_refused(read: Any, wrong: object) -> None:
    with pytest.raises(BadArgument):
        read(wrong, "value")


def test_valid_values_are_read() -> None:
    assert any_number(float("inf"), "v") == float("inf")
    assert flag(1, "v") is True
    assert text(b"caf\xc3\xa9", "v") == "café"
    assert row_of(("x", number), ("n", integer))([1, 2, "left out"], "v") == (1.0, 2)
