"""AirSim's own flight code beside ours: the missions, the program that flies them in AirLib, and the comparison."""
