"""Datasets to look at: recordings for Rerun's viewer, and a page about one; joins the command ``uavsim``."""
