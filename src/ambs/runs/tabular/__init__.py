"""Training runs of tabular AMBS: what is recorded, what is drawn."""
