"""A town's roads as a vector map: from OpenDRIVE to nuScenes' map expansion, arrays, rasters and graphs."""
