"""Agents that learn the values of actions from a replay, without a model: Rainbow and IQN."""
