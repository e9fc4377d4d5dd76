"""Flows with real slots, client processes, ledger and tables; only the simulator is drawn."""
