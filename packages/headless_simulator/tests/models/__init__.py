"""Sizes and meshes of movable actors."""
