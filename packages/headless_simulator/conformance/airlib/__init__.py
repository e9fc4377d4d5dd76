"""AirSim's own flight code flown beside the headless simulator's; run by ``python -m conformance.airlib.compare``."""
