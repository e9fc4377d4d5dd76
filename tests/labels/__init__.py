"""Labels by rule, on samples made by hand and on a small dataset."""
