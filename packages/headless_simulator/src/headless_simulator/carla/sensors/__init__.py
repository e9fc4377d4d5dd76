"""Sensors' measurements: one module per family, all fed from the same tick by ``hub``."""
