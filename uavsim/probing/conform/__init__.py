"""Answers of a simulator, capability by capability, and which of them are as the headless simulator's."""
