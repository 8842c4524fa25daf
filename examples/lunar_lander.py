"""LunarLander, which nobody here wrote, with labels of your own. Run: python examples/lunar_lander.py"""

import sys

import gymnasium
import numpy as np

import ambs

# An observation is x, y, vx, vy, angle, its rate of change, and whether each leg is on the ground, where y is 0.
LABELS = {
    "low": lambda observation, info: observation[1] < 0.3,
    "fast": lambda observation, info: np.hypot(observation[2], observation[3]) > 0.6,
    "tilted": lambda observation, info: abs(observation[4]) > 0.5,
}
FORMULA = '!("low" & "fast") & !"tilted"'


def make() -> gymnasium.Env:
    try:
        lander = gymnasium.make("LunarLander-v3")
    except gymnasium.error.DependencyNotInstalled:
        sys.exit('LunarLander needs Box2D; install it with: pip install "gymnasium[box2d]"')
    return ambs.labelled(lander, labels=LABELS, formula=FORMULA)


def careful(observation: np.ndarray) -> int:
    """Leans against its drift, and falls the more slowly the lower it is."""
    x, y, vx, vy, angle, turning, left, right = observation
    lean = np.clip(0.4 * x + 0.8 * vx, -0.3, 0.3) - angle
    if left or right:
        return 2 if vy < -0.1 else 0
    if vy < -0.1 - 0.35 * max(y, 0) and abs(angle) < 0.4:
        return 2
    correction = lean - 0.8 * turning
    return 0 if abs(correction) < 0.05 else 3 if correction < 0 else 1


def fly(env: gymnasium.Env, policy, episodes: int) -> str:
    steps = violations = rewards = 0
    for episode in range(episodes):
        (observation, info), over = env.reset(seed=episode), False
        while not over:
            observation, reward, terminated, truncated, info = env.step(policy(observation))
            over, steps, rewards = terminated or truncated, steps + 1, rewards + reward
            violations += info["cost"] > 0
    return f"{1000 * violations / steps:6.1f} violations per 1000 steps, return {rewards / episodes:7.1f}"


if __name__ == "__main__":
    env, dice = make(), np.random.default_rng(0)
    print("formula ", ambs.parse(FORMULA))
    print("random  ", fly(env, lambda observation: int(dice.integers(4)), 50))
    print("careful ", fly(env, careful, 50))
