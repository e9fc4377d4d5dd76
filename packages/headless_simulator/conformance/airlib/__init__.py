"""Comparison of AirSim's flight code with the headless simulator's; run by ``python -m conformance.airlib.compare``."""
