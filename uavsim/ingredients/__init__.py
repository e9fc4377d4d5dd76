"""What may be in a scene, one package each; ``uavsim.records.ingredients`` says what a package names."""
