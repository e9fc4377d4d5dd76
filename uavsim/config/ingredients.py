"""The blocks of a dataset's YAML that belong to ingredients: one model whose fields are the registry's keys."""

from functools import cache
from typing import Annotated, Any

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, create_model
from pydantic_core import CoreSchema

from uavsim.config.base import Model
from uavsim.records.ingredients import every


def _is_none(value: object) -> bool:
    """Leave a key out of what names a dataset: the name does not depend on the packages that are installed."""
    return value is None


class IngredientBlocks(Model):
    """A dataset's blocks of the ingredients; an instance is of the subclass that has a field for each key."""

    def block(self, key: str) -> Any:
        """Return what stands under a key, None where nothing does."""
        return getattr(self, key)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Take the fields from the registry when they are first needed."""
        return handler(source) if cls is not IngredientBlocks else handler(_model())

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Show editors what each ingredient says of its key."""
        return handler(core)


def all_blocks() -> IngredientBlocks:
    """Return the blocks of a dataset that says nothing of any ingredient."""
    return _model()()


@cache
def _model() -> type[IngredientBlocks]:
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
    return create_model("IngredientBlocksOfAll", __base__=IngredientBlocks, **fields)
