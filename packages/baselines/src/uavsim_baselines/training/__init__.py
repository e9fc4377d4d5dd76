"""Training, checkpoints and predictions of models."""
