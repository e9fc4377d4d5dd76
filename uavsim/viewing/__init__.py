"""Views of a dataset: recordings for Rerun's viewer, and an HTML report."""
