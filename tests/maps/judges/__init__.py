"""References for maps: CARLA's own map, Lanelet2, nuScenes' devkit, exact integrals."""
