"""Tests of doctor, conform, calibrate, forecast and preview."""
