"""Labels against rendered ground truth."""
