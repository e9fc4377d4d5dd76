"""Labels against scenes whose truth is drawn alone."""
