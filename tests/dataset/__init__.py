"""Tables, dialects and their conversion, against the formats' own formulas."""
