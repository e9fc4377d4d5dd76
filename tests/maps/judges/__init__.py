"""Trials: the judges of maps; `scripts/trial` runs them."""
