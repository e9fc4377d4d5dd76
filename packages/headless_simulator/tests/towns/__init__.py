"""Procedural towns and OpenDRIVE files."""
