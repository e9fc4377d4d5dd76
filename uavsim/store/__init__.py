"""The run on disk: staging, commit, ledger, locks, and outputs in folders or object stores."""
