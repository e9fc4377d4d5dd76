"""Recording: degradations, masks, writer, rigs."""
