"""Long system trials: kills, faults, soaks, wheels. ``scripts/trial`` lists and runs them."""
