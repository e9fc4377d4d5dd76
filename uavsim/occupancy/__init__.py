"""Occupancy, visibility and flow of voxels from a dataset's depth images, masks and boxes."""
