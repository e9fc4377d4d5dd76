"""Commit, ledger, locks and object stores, with power cut at every step."""
