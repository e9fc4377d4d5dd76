"""Tests of commit, ledger, locks and object stores, with interruptions at every step."""
