"""The ingredients of a scene, one package each; ``uavsim.records.ingredients`` says what a package names."""
