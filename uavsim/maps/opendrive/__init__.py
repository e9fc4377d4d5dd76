"""OpenDRIVE 1.4 to 1.8: roads, lanes, objects and signals of a file, and their geometry."""
