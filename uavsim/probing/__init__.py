"""A simulator asked before a long run: its pace, its answers, its frames; joins the command ``uavsim``."""
