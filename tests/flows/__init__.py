"""Flows with real slots, client processes, ledger and tables, and synthetic scenes instead of a simulator."""
