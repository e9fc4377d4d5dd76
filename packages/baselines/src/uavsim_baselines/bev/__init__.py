"""Geometry of the bird's-eye view: the grid and its warps, cameras sampled into it, boxes, targets and peaks. No weights."""
