"""Tests of CARLA's RPC methods by module, called by the real client."""
