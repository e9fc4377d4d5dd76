"""Long trials of the whole: kills, faults, soaks, wheels. ``scripts/trial`` lists and runs them."""
