"""OpenDRIVE 1.4 to 1.8: a file as roads, lanes, objects and signals, and where on the map any of them is."""
