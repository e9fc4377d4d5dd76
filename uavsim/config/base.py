"""The base of every configuration model: frozen, strict about types, unknown keys refused, numbers finite."""

import ast
import inspect
import itertools
import textwrap
from functools import cache
from typing import Annotated, Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, StringConstraints
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema

__all__ = [
    "BLUEPRINT",
    "COLOUR",
    "MESH",
    "PATTERNS",
    "PROP_OR_MESH",
    "TAG",
    "CameraName",
    "Metres2",
    "Metres3",
    "Model",
    "Name",
    "Reference",
    "Seconds",
    "Speed",
    "Text",
]

_NAME: Final = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"
_REFERENCE: Final = r"^[^\x00-\x1f\x7f]{1,500}$"
_CAMERA: Final = r"^[A-Z0-9][A-Z0-9_]{0,31}$"
BLUEPRINT: Final = r"^(all|uav3d|vehicle\.[a-z0-9_-]+\.[a-z0-9_-]+)$"
MESH: Final = r"^/[A-Za-z0-9_./]{1,200}$"
PROP_OR_MESH: Final = r"^([a-z0-9_]+(\.[a-z0-9_]+){1,5}|/[A-Za-z0-9_./]{1,200})$"
COLOUR: Final = r"^(\d{1,2}|1\d\d|2[0-4]\d|25[0-5])(,(\d{1,2}|1\d\d|2[0-4]\d|25[0-5])){2}$"
TAG: Final = r"^[a-z0-9][a-z0-9_]{0,63}$"
PATTERNS: Final = {
    COLOUR: 'a colour: "r,g,b", each 0 to 255',
    TAG: "a tag: one word of a-z, 0-9 and _, 64 at most",
    MESH: "the path of an asset: /Game/Props/tyre.tyre",
    PROP_OR_MESH: "a prop's blueprint (static.prop.kite), or the path of a static mesh (/Game/Props/kite.kite)",
    BLUEPRINT: "a vehicle blueprint (vehicle.audi.a2) or a group of them: all, uav3d",
    _NAME: "a name: letters, digits and _ . - only, a letter or digit first, 64 at most",
    _REFERENCE: "a name or a path: 1 to 500 printable characters",
    _CAMERA: "a camera's name: A-Z, 0-9 and _ only, 32 at most",
}
"""Descriptions of patterns, for messages."""

Name = Annotated[str, StringConstraints(pattern=_NAME)]
"""A word that may become part of a file name: it cannot climb out of a folder."""

Reference = Annotated[str, StringConstraints(pattern=_REFERENCE)]
"""The name of another file of its kind (``cross``), or a path to one (``my/star.yaml``)."""

CameraName = Annotated[str, StringConstraints(pattern=_CAMERA)]
"""Part of a channel's name: ``CAMERA_<name>_id_0``."""

Text = Annotated[str, StringConstraints(max_length=2000)]
Coordinate = Annotated[float, Field(ge=-1e5, le=1e5)]
Metres2 = tuple[Coordinate, Coordinate]
Metres3 = tuple[Coordinate, Coordinate, Coordinate]
Seconds = Annotated[float, Field(ge=0, le=3600)]
Speed = Annotated[float, Field(gt=0, le=50)]


class Model(BaseModel):
    """Frozen after parsing; an unknown key is an error, and so is ``"5"`` for a number."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        defer_build=True,  # when it is first used: a command uses a few of fifty models
    )

    has_source: ClassVar[bool] = True
    """False of a class that ``pydantic.create_model`` made: its fields carry their own descriptions."""
    drawable: ClassVar[tuple[str, ...]] = ()
    """Keys below which a number may be a distribution, of which every scene draws one (``config.distribution``)."""
    shorthand: ClassVar[dict[str, Any] | None] = None
    """JSON Schema of what may be written instead of the whole mapping."""

    @classmethod
    def model_fields_by_key(cls) -> dict[str, FieldInfo]:
        """Return the fields by their keys in YAML."""
        return {field.alias or name: field for name, field in cls.model_fields.items()}

    @classmethod
    def about_unknown(cls, key: str) -> str | None:
        """Return the hint for an unknown key; None to name the nearest known key instead."""
        del key
        return None

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Add the docstrings of keys and the short form to the schema, for editors."""
        schema = handler(core)
        model_schema = handler.resolve_ref_schema(schema)
        docs = _attribute_docstrings(cls)
        for name, field in cls.model_fields.items():
            if name in docs:
                model_schema["properties"][field.alias or name].setdefault("description", docs[name])
        if cls.shorthand is None:
            return schema
        inner = dict(model_schema)
        model_schema.clear()
        model_schema.update({"anyOf": [cls.shorthand, inner], "title": inner.pop("title", cls.__name__)})
        return schema


@cache
def _attribute_docstrings(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstring below each attribute; pydantic's own search would slow down every import."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if not issubclass(base, Model) or not base.__dict__.get("has_source", True):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        assert isinstance(body, ast.ClassDef), base
        for line, below in itertools.pairwise(body.body):
            if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and isinstance(below, ast.Expr):
                text = below.value
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    found[line.target.id] = inspect.cleandoc(text.value)
    return found
