"""Long trials of the whole: kills, faults, soaks, scale, vendors' examples, wheels. One module per script of ``scripts/``."""
