"""JSON Schemas of every YAML file, so that an editor completes keys and marks mistakes."""

import json
import re
from pathlib import Path
from typing import Any, Final

from uavsim.config.backends import topologies
from uavsim.config.library import kinds
from uavsim.typing import JsonDict

_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
SCHEMA_COMMENT: Final = re.compile(r"#\s*yaml-language-server:\s*\$schema=\S*?([a-z_]+)\.json\s*")
"""The first line of a YAML file that names its kind to editors, and to ``uavsim check``."""


def schemas() -> dict[str, JsonDict]:
    """Return the schema of every kind of file, by kind, and of what several of them refer to."""
    found = {"topology": {"title": "Topology", "type": "string", "enum": topologies()}}
    found |= {kind: _referring(model.model_json_schema(by_alias=True)) for kind, model in kinds().items()}
    return {name: {"$schema": _DRAFT, "$id": f"{name}.json", **schema} for name, schema in found.items()}


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
