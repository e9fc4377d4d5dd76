"""JSON Schemas of every YAML file, so that an editor completes keys and marks mistakes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

from uavsim.config.library import KINDS
from uavsim.typing import JsonDict

__all__ = ["SCHEMA_COMMENT", "schema_texts", "schemas"]

_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
SCHEMA_COMMENT: Final = re.compile(r"#\s*yaml-language-server:\s*\$schema=\S*?([a-z_]+)\.json\s*")
"""The first line of a YAML file that names its kind to editors, and to ``uavsim check``."""


def schemas() -> dict[str, JsonDict]:
    """Return the schema of every kind of file, by kind."""
    return {
        kind: {"$schema": _DRAFT, "$id": f"{kind}.json", **model.model_json_schema(by_alias=True)}
        for kind, model in KINDS.items()
    }


def schema_texts() -> dict[Path, str]:
    """Return file names and texts of all schemas."""
    return {
        Path(f"{kind}.json"): json.dumps(schema, indent=1, sort_keys=True) + "\n" for kind, schema in schemas().items()
    }
