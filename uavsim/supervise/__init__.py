"""Processes: simulators and client workers, started, watched, and ended whatever happens."""
