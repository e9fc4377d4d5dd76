"""Recorded scenes shown again, changed in one thing, and linked as twins; joins the command ``uavsim``."""
