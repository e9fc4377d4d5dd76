"""The validator: every check finds the damage it is for, and nothing else."""
