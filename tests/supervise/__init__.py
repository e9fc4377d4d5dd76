"""Processes that die, hang and print rubbish."""
