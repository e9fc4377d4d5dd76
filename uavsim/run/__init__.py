"""A run: request, context, stages, finishing, and one executor."""
