"""JSON Schemas of every YAML file, so that an editor completes keys and marks mistakes."""

import json
import re
from pathlib import Path
from typing import Any, Final

from uavsim.config.backends import topologies
from uavsim.config.base import Model
from uavsim.config.distribution import DISTRIBUTION_SCHEMA
from uavsim.config.library import kinds
from uavsim.typing import JsonDict

_REFERENCE: Final = re.compile(r'"#/\$defs/(\w+)"')
_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
SCHEMA_COMMENT: Final = re.compile(r"#\s*yaml-language-server:\s*\$schema=\S*?([a-z_]+)\.json\s*")
"""First line of a YAML file, with its kind for editors and ``uavsim check``."""


def schemas() -> dict[str, JsonDict]:
    """Return the schema of every kind of file, by kind, and of what several of them refer to."""
    found = {"topology": {"title": "Topology", "type": "string", "enum": topologies()}}
    found["distribution"] = DISTRIBUTION_SCHEMA
    found |= {kind: _referring(_drawable(model)) for kind, model in kinds().items()}
    return {name: {"$schema": _DRAFT, "$id": f"{name}.json", **schema} for name, schema in found.items()}


def _drawable(model: type[Model]) -> JsonDict:
    """Return a model's schema that allows a distribution for each number that scenes may draw."""
    schema = model.model_json_schema(by_alias=True)
    if not model.drawable:
        return schema
    definitions = schema.get("$defs", {})
    reached, todo = set[str](), [schema["properties"].pop(key) for key in model.drawable]
    drawable = dict(zip(model.drawable, todo, strict=True))
    while todo:
        for name in _REFERENCE.findall(json.dumps(todo.pop())):
            if name not in reached:
                reached.add(name)
                todo.append(definitions[name])
    schema["properties"] |= {key: _or_drawn(part) for key, part in drawable.items()}
    definitions.update({name: _or_drawn(definitions[name]) for name in reached})
    return schema


def _or_drawn(schema: Any) -> Any:
    """Allow a distribution for every number."""
    if isinstance(schema, list):
        return [_or_drawn(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") in {"number", "integer"}:
        about = {key: schema[key] for key in ("default", "description", "title") if key in schema}
        number = {key: value for key, value in schema.items() if key not in about}
        return {"anyOf": [number, {"$ref": "distribution.json"}], **about}
    return {key: _or_drawn(part) for key, part in schema.items()}


def _referring(schema: Any) -> Any:
    """Replace the names of backends wherever they stand: a new one is then written into one file."""
    if isinstance(schema, list):
        return [_referring(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("enum") == topologies():
        return {"$ref": "topology.json", **{k: v for k, v in schema.items() if k not in {"enum", "type"}}}
    return {key: _referring(part) for key, part in schema.items()}


def schema_texts() -> dict[Path, str]:
    """Return file names and texts of all schemas."""
    return {
        Path(f"{kind}.json"): json.dumps(schema, indent=1, sort_keys=True) + "\n" for kind, schema in schemas().items()
    }
