"""Turn pydantic's list of errors into one helpful line: the error, the value, and a suggestion."""

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias, TypeVar, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from uavsim.config.base import PATTERNS, Model
from uavsim.errors import InputError
from uavsim.registry import nearest

__all__ = ["KeyPath", "each", "first", "key", "kind_word", "quoted", "validated", "wrong_key"]

M = TypeVar("M", bound=Model)
KeyPath: TypeAlias = tuple[str | int, ...]
_LONGEST: Final = 60
DISTRIBUTIONS: Final = ("uniform", "normal", "choice")
"""Words that begin a number that scenes draw (``config.distribution``)."""
_WRONG_KEY: Final = "wrong_key"
_NUMBER: Final = "must be a number"
_SAID: Final = {
    "float_type": _NUMBER,
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "bool_type": "must be true or false",
    "string_type": "must be text",
    "finite_number": "must be a finite number",
    "dict_type": "must hold keys and values",
    "model_type": "must hold keys and values",
    "model_attributes_type": "must hold keys and values",
    "tuple_type": "must be a list",
}


def key(key_path: KeyPath) -> str:
    """Format a key path: ``towns.Town10HD.scenes``, ``cameras[2].fov_deg``."""
    text = ""
    for step in key_path:
        text += f"[{step}]" if isinstance(step, int) else f"{'.' if text else ''}{_clean(step)}"
    return text


def kind_word(value: object) -> str:
    """Name the kind of a YAML value: "a list", "a number"."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, (tuple, list)) else "a mapping"


def quoted(value: object) -> str:
    """Show a value on one short line."""
    if isinstance(value, (dict, tuple, list)) or value is None:
        return {"empty": "nothing"}.get(kind_word(value), kind_word(value))
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]}...{text[-1]}"


def first(
    error: ValidationError, model: type[Model], *, line_of: Callable[[KeyPath], int]
) -> tuple[KeyPath, str, bool]:
    """Return the key and the text of the first error, and whether the file has that key.

    A misspelt key comes before the missing one that it causes, and a wrong item before the list that is too short without it.
    """
    every = error.errors(include_url=False)
    details = _real(every)
    details.sort(
        key=lambda d: (d["type"] != "extra_forbidden", _lacks(d, every), d["type"] == "missing", line_of(_key_path(d)))
    )
    detail = details[0]
    more = len({key(_key_path(d)) for d in details}) - 1
    tail = f" (and {more} more {'error' if more == 1 else 'errors'} in this file)" if more > 0 else ""
    return _key_path(detail), _message(detail, model) + tail, detail["type"] != "missing"


def each(
    error: ValidationError, model: type[Model], *, line_of: Callable[[KeyPath], int]
) -> list[tuple[KeyPath, str, bool]]:
    """Return every error as ``first`` does one, one for each key, in the order of the lines."""
    found: dict[str, tuple[KeyPath, str, bool]] = {}
    for detail in _real(error.errors(include_url=False)):
        key_path = _key_path(detail)
        found.setdefault(key(key_path), (key_path, _message(detail, model), detail["type"] != "missing"))
    return sorted(found.values(), key=lambda one: line_of(one[0]))


def _real(every: list[ErrorDetails]) -> list[ErrorDetails]:
    """Leave out containers that are too short only because of errors inside them."""
    return [d for d in every if not (_lacks(d, every) and len(d["input"]) >= int(d["ctx"]["min_length"]))]


def _lacks(detail: ErrorDetails, details: list[ErrorDetails]) -> bool:
    """Return whether a "too short" error only follows from wrong items: pydantic counts the good ones only."""
    where = _key_path(detail)
    below = (_key_path(other) for other in details)
    return detail["type"] == "too_short" and any(len(p) > len(where) and p[: len(where)] == where for p in below)


def validated(value: object, model: type[M], *, what: object) -> M:
    """Validate parsed data from outside against a model.

    Args:
        value: plain data, for example of JSON.
        model: the model.
        what: its source, for messages.

    Raises:
        InputError: it does not fit; one line with the key.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        key_path, said, _ = first(error, model, line_of=lambda _: 0)
        raise InputError(f"{what}: {_clean(key(key_path))}: {said}" if key_path else f"{what}: {said}") from None


def wrong_key(name: str, what: str, *, below: tuple[int | str, ...] = ()) -> PydanticCustomError:
    """Return the error of a model's validator that one of the model's own keys is wrong, or what is below it."""
    return PydanticCustomError(_WRONG_KEY, "{error}", {"error": what, "key": name, "below": below})


def _key_path(detail: ErrorDetails) -> KeyPath:
    """Return the key path without pydantic's marks of keys."""
    key_path = tuple(step for step in detail["loc"] if step != "[key]")
    return (*key_path, detail["ctx"]["key"], *detail["ctx"]["below"]) if detail["type"] == _WRONG_KEY else key_path


def _message(detail: ErrorDetails, model: type[Model]) -> str:
    kind, value, context = detail["type"], detail["input"], detail.get("ctx", {})
    if kind == "missing":
        key_path = _key_path(detail)
        return "is missing" if not (key_path and isinstance(key_path[-1], int)) else "the list is too short"
    if kind == "extra_forbidden":
        *above, word = _key_path(detail)
        about = None if above else model.about_unknown(str(word))
        return about or "unknown key" + _guess(str(word), _fields_at(model, tuple(above)))
    if kind == "literal_error":
        choices = [c.strip("'") for c in str(context.get("expected", "")).replace(" or ", ", ").split(", ")]
        return f"unknown value {quoted(value)}" + _guess(str(value), choices)
    if kind in ("value_error", _WRONG_KEY):
        return " ".join(str(context.get("error", detail["msg"])).split())
    if kind == "string_pattern_mismatch":
        return f"{quoted(value)} is not {PATTERNS.get(str(context.get('pattern')), 'of the required form')}"
    said = _SAID.get(kind) or _pydantic_message(detail["msg"])
    if said in (_NUMBER, _SAID["int_type"]) and isinstance(value, dict) and model.drawable:
        laws = [str(name) for name in value if name not in ("min", "max", "weights")]
        if laws:
            return f"unknown distribution {laws[0]!r}" + _guess(laws[0], list(DISTRIBUTIONS))
    return f"{said}, got {quoted(value)}"


def _pydantic_message(message: str) -> str:
    for pydantic_words, words in (
        ("Input should", "must"),
        ("Tuple should", "the list must"),
        ("Dictionary should", "must"),
        ("String should", "must"),
    ):
        message = message.replace(pydantic_words, words)
    return f"{message[:1].lower()}{message[1:]}".replace(" after validation", "")


def _guess(word: str, known: list[str]) -> str:
    guess = nearest(word, known)
    return f"; did you mean {guess!r}?" if guess else f"; known: {', '.join(known)}" if known else ""


def _fields_at(model: type[Model], key_path: KeyPath) -> list[str]:
    """Return the keys allowed at a key path; steps that are not fields are keys of a mapping or indices of a list."""
    models: list[type[Model]] = [model]
    for step in key_path:
        fields = [f for m in models for key, f in m.model_fields_by_key().items() if step == key]
        if fields:
            models = [m for f in fields for m in _models_in(f.annotation)]
    return sorted({key for m in models for key in m.model_fields_by_key()})


def _models_in(annotation: Any) -> Iterator[type[Model]]:
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _clean(word: str) -> str:
    """Keep a key on one short line."""
    return word if word.isprintable() and len(word) <= _LONGEST else quoted(word)
