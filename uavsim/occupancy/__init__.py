"""Occupancy, observation and flow of voxels, from a dataset's depth, masks and boxes; joins the command ``uavsim``."""
