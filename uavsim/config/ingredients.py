"""The blocks of a dataset's YAML that belong to ingredients: a field of its model for each of the registry's keys."""

from typing import Annotated, Any

from pydantic import Field

from uavsim.records.ingredients import every


def _is_none(value: object) -> bool:
    """Leave a key out of what names a dataset: the name does not depend on the packages that are installed."""
    return value is None


def ingredient_fields() -> dict[str, Any]:
    """Return the fields by key, as ``pydantic.create_model`` takes them."""
    fields: dict[str, Any] = {}
    for _, ingredient in every():
        if ingredient.block is None:
            continue
        block, about = ingredient.block.load(), ingredient.about or None
        if ingredient.always:
            fields[ingredient.key] = (block, Field(block(), description=about))
        else:
            fields[ingredient.key] = (
                Annotated[block | None, Field(exclude_if=_is_none)],
                Field(None, description=about),
            )
    return fields
