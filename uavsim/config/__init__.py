"""YAML models (pydantic, frozen, nothing unknown), the files' places, and errors that name file and line."""
