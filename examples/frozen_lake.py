"""FrozenLake, which nobody here wrote, shielded by its own transition table. Run: python examples/frozen_lake.py"""

import gymnasium
import numpy as np

import ambs

env = gymnasium.make("FrozenLake-v1", map_name="8x8", is_slippery=True)
table, cells = env.unwrapped.P, env.unwrapped.desc.ravel()
kernel, reward = np.zeros((64, 4, 64)), np.zeros((64, 4))
for state, actions in table.items():
    for action, outcomes in actions.items():
        for probability, following, gain, _ in outcomes:
            kernel[state, action, following] += probability
            reward[state, action] += probability * gain
hole = cells == b"H"

# The task policy is in a hurry; the backup policy is the safest, and among the equally safe the best for reward.
task = ambs.TabularPolicy.greedy(ambs.tabular.reward_values(kernel, reward, discount=0.8).argmax(axis=1), 4)
safest = ambs.tabular.safest_actions(ambs.tabular.safety_values(kernel, ~hole, steps=10))
careful = ambs.tabular.reward_values(kernel, reward, discount=0.99, allowed=safest)
backup = ambs.TabularPolicy.greedy(careful.argmax(axis=1), 4)
model = ambs.TabularModel(kernel, labels={"hole": hole}, terminal=hole | (cells == b"G"))
shield = ambs.LookaheadShield(model, task, backup, "P>=0.98 [ G<=10 !hole ]")

for name, world in (("unshielded", env), ("shielded", ambs.ShieldWrapper(env, shield))):
    falls = goals = overrides = steps = 0
    for episode in range(200):
        state, _ = world.reset(seed=episode)
        over = False
        while not over:
            state, reward, terminated, truncated, info = world.step(int(task.probs[state].argmax()))
            over, steps = terminated or truncated, steps + 1
            overrides += info.get("shield", {}).get("overridden", False)
        falls, goals = falls + hole[state], goals + (cells[state] == b"G")
    print(f"{name:10}  of 200 episodes {falls:2} fell and {goals:2} arrived; {overrides} of {steps} actions overridden")
