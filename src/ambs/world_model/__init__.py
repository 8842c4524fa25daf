"""The world model: DreamerV3's recurrent state-space model with heads for reward, continuation, cost and safety."""
