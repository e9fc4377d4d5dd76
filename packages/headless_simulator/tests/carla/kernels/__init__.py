"""Tests of the kernels of CARLA's port."""
