"""Argument checks by signature: arguments are decoded as a method declares them before it runs.

A parameter's type has its reader: ``Number`` is ``Annotated[float, Reads(number)]``. A reader takes the wire value and the
parameter's name, and returns the method's argument or raises ``BadArgument``. Arguments common to many methods are one
parameter: a ``NamedTuple`` of such types stands for its fields, in order.
"""

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, TypeAlias, get_args, get_type_hints

from headless_simulator.errors import BadArgument

Reader: TypeAlias = Callable[[Any, str], Any]


@dataclass(frozen=True, slots=True)
class Reads:
    """Annotation of a type with its reader."""

    read: Reader


class WrongCount(BadArgument):
    """Wrong number of arguments."""

    def __init__(self, expected: str, got: int) -> None:
        self.expected, self.got = expected, got
        super().__init__(f"expected {expected} arguments, got {got}")


class Parameter(NamedTuple):
    """One declared parameter."""

    name: str
    read: Reader


@dataclass(frozen=True, slots=True)
class Signature:
    """A method's arguments after its context.

    Attributes:
        parameters: in wire order.
        required: number of parameters without a default.
        rest: reader of every further argument, or None.
        groups: arguments that form one parameter of the method: index of the first, count, and type.
    """

    parameters: tuple[Parameter, ...]
    required: int
    rest: Parameter | None = None
    groups: tuple[tuple[int, int, type[Any]], ...] = ()

    @property
    def expected(self) -> str:
        """Return the accepted number of arguments as text."""
        most = len(self.parameters)
        if self.rest is not None:
            return f"{self.required} or more"
        return str(most) if self.required == most else f"{self.required} to {most}"

    def index_of(self, name: str) -> int | None:
        """Return the index of a parameter, or None."""
        return next((index for index, parameter in enumerate(self.parameters) if parameter.name == name), None)

    def read(self, arguments: Sequence[Any]) -> list[Any]:
        """Read the arguments of one call.

        Raises:
            WrongCount: too many or too few.
            BadArgument: an argument is invalid.
        """
        declared = len(self.parameters)
        if len(arguments) < self.required or (self.rest is None and len(arguments) > declared):
            raise WrongCount(self.expected, len(arguments))
        found = [read(value, name) for (name, read), value in zip(self.parameters, arguments)]  # noqa: B905  (fast)
        if self.rest is not None:
            found += [self.rest.read(value, self.rest.name) for value in arguments[declared:]]
        for index, count, group in self.groups:
            found[index : index + count] = [group(*found[index : index + count])]
        return found


def signature_of(handler: Callable[..., Any]) -> Signature:
    """Read the signature of a method; its first parameter is the context.

    Raises:
        TypeError: a parameter has no reader.
    """
    hints = get_type_hints(handler, include_extras=True)
    found: list[Parameter] = []
    groups: list[tuple[int, int, type[Any]]] = []
    required, rest = 0, None
    for index, (name, declared) in enumerate(inspect.signature(handler).parameters.items()):
        if index == 0:
            continue
        hint = hints.get(name)
        if isinstance(hint, type) and issubclass(hint, tuple):
            fields = get_type_hints(hint, include_extras=True)
            found += [_parameter(handler, field, kind) for field, kind in fields.items()]
            groups.append((index - 1, len(fields), hint))
            required += len(fields) - len(hint._field_defaults)  # type: ignore[attr-defined]
            continue
        parameter = _parameter(handler, name, hint)
        if declared.kind is inspect.Parameter.VAR_POSITIONAL:
            rest = parameter
        else:
            found.append(parameter)
            required += declared.default is inspect.Parameter.empty
    return Signature(tuple(found), required, rest, tuple(groups))


def _parameter(handler: Callable[..., Any], name: str, hint: Any) -> Parameter:
    marks = [mark for mark in get_args(hint) if isinstance(mark, Reads)]
    if not marks:
        raise TypeError(f"{handler.__qualname__}: parameter {name!r} has no reader; annotate it")
    return Parameter(name.removeprefix("_"), marks[0].read)


# ---- readers -----------------------------------------------------------------------------------------------------------


def short_repr(value: Any) -> str:
    """Return a shortened representation of a value for error texts."""
    return f"{value!r:.80}"


def any_number(value: Any, name: str) -> float:
    """Read a number, NaN and infinities included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadArgument(f"{name} must be a number, not {short_repr(value)}")
    try:
        return float(value)
    except OverflowError:
        raise BadArgument(f"{name} is too large") from None


def number(value: Any, name: str) -> float:
    """Read a finite number."""
    if type(value) is float and math.isfinite(value):  # the common case; batches have thousands
        return value
    found = any_number(value, name)
    if not math.isfinite(found):
        raise BadArgument(f"{name} must be finite, not {short_repr(value)}")
    return found


def integer(value: Any, name: str) -> int:
    """Read an integer."""
    if type(value) is int:
        return value
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadArgument(f"{name} must be an integer, not {short_repr(value)}")
    return value


def flag(value: Any, name: str) -> bool:
    """Read a truth value."""
    if not isinstance(value, bool | int):
        raise BadArgument(f"{name} must be true or false, not {short_repr(value)}")
    return bool(value)


def text(value: Any, name: str) -> str:
    """Read a text; bytes are taken as UTF-8."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if not isinstance(value, str):
        raise BadArgument(f"{name} must be text, not {short_repr(value)}")
    return value


def anything(value: Any, _name: str) -> Any:
    """Return the value unchanged."""
    return value


def array(value: Any, name: str, *, least: int = 0) -> list[Any]:
    """Read an array of at least ``least`` items."""
    if not isinstance(value, list | tuple) or len(value) < least:
        raise BadArgument(f"{name} must be an array of {least} or more, not {short_repr(value)}")
    return list(value)


def array_of(read: Reader, *, least: int = 0, most: int | None = None) -> Reader:
    """Return a reader of arrays with one reader for all items."""

    def read_all(value: Any, name: str) -> list[Any]:
        rows = array(value, name, least=least)
        if most is not None and len(rows) > most:
            raise BadArgument(f"{name} must be an array of at most {most}, not of {len(rows)}")
        return [read(item, name) for item in rows]

    return read_all


def row_of(*fields: tuple[str, Reader]) -> Reader:
    """Return a reader of arrays as tuples with one reader per item; further items are dropped."""
    count = len(fields)

    def read_row(value: Any, name: str) -> tuple[Any, ...]:
        rows = value if type(value) is list and len(value) >= count else array(value, name, least=count)
        return tuple([read(item, field) for (field, read), item in zip(fields, rows)])  # noqa: B905  (fast)

    return read_row


Number: TypeAlias = Annotated[float, Reads(number)]
AnyNumber: TypeAlias = Annotated[float, Reads(any_number)]
Integer: TypeAlias = Annotated[int, Reads(integer)]
Integers: TypeAlias = Annotated[list[int], Reads(array_of(integer))]
Numbers: TypeAlias = Annotated[list[float], Reads(array_of(number))]
Names: TypeAlias = Annotated[list[str], Reads(array_of(text))]
Flag: TypeAlias = Annotated[bool, Reads(flag)]
Text: TypeAlias = Annotated[str, Reads(text)]
Array: TypeAlias = Annotated[list[Any], Reads(array)]
Anything: TypeAlias = Annotated[Any, Reads(anything)]
