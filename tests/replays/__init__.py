"""Recorded scenes shown again: what is asked for, refused, drawn and linked."""
