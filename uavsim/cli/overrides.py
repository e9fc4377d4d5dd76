"""The options that override what a dataset's YAML says, the same of every command that has them."""

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from uavsim.config.overrides import Overrides


def takes_overrides(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for each field of ``Overrides``, in place of its parameter ``overrides``."""
    fields = Overrides.model_fields
    signature = inspect.signature(command, eval_str=True)
    options = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[field.annotation, typer.Option(min=_least(field.metadata), help=field.description)],
        )
        for name, field in fields.items()
    ]

    @functools.wraps(command)
    def with_overrides(**words: Any) -> None:
        requested = Overrides(**{name: words.pop(name) for name in fields})
        command(**words, overrides=requested)

    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        parameters += options if parameter.name == "overrides" else [parameter]
    with_overrides.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_overrides.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": None}
    return with_overrides


def _least(metadata: list[Any]) -> int | None:
    return next((bound.ge for bound in metadata if hasattr(bound, "ge")), None)
