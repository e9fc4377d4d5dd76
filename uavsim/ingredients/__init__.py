"""The ingredients of a scene, a module or package each; ``uavsim.records.ingredients`` describes their declarations."""
