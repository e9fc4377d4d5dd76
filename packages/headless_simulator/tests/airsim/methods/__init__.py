"""Tests of AirSim's RPC methods by module, called by the real client."""
