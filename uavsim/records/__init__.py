"""Records of the pipeline stages: frozen dataclasses, and their serialisation."""
