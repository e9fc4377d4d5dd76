"""Weights: training them, keeping them, and predicting with them."""
