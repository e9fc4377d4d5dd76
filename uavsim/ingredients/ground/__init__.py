"""The common part of agents on the ground."""
