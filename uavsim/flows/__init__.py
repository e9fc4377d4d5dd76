"""The flows and tasks of a run (``generate.py``); the only package that imports Prefect."""
