"""Training runs of agents that learn a world model."""
