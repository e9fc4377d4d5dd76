"""The order of the stages, as Prefect flows: the only room that imports Prefect."""
