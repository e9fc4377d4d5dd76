"""Accepted and refused YAML, and the messages."""
