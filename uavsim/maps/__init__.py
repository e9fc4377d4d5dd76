"""Vector maps of towns: from OpenDRIVE to nuScenes' map expansion, arrays, rasters, lane graphs and Lanelet2."""
