"""A run: request, context, stages, the scenes of a town, and finishing."""
