"""Tests of AirSim's protocol, flight and images, against its client and hand-computed values."""
