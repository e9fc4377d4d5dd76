"""Compiled kernels that read and write whole messages of CARLA's port."""
