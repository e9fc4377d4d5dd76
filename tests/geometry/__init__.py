"""Laws and poses worked out on paper."""
