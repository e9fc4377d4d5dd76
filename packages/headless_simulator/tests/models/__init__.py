"""Sizes and meshes of what moves."""
