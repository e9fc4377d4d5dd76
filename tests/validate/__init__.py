"""Tests of the validator: each check finds its own defects only."""
