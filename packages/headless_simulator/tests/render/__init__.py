"""Tests of the renderer against a pinhole camera and hand-computed geometry."""
