"""A shield around a simulator of your own, in plain NumPy, and a policy of another library (scikit-learn).

A cart on a track of length 10 is pushed left, not at all, or right; beyond the right end is a cliff. The task policy,
a logistic regression fitted to a reckless driver, wants to be fast; the backup policy brakes.

    python examples/numpy_simulator.py        (needs scikit-learn)
"""

import jax
import numpy as np
from sklearn.linear_model import LogisticRegression

import ambs

CLIFF = 10.0


def step(states: np.ndarray, actions: np.ndarray, noise: np.ndarray):
    """All states of a batch at once: position and speed; gusts of wind come from the uniform numbers."""
    position, speed = states.T
    speed = np.clip(speed + 0.2 * (actions - 1) + 0.1 * (noise[:, 0] - 0.5), -1, 1)
    position = np.clip(position + speed, 0, None)
    return np.stack([position, speed], axis=1), {"cliff": position >= CLIFF}, position < CLIFF


def brake(states: np.ndarray) -> np.ndarray:
    """Push against the motion."""
    return np.eye(3)[np.where(states[:, 1] > 0, 0, np.where(states[:, 1] < 0, 2, 1))]


rng = np.random.default_rng(0)
seen = np.stack([rng.uniform(0, CLIFF, 500), rng.uniform(-1, 1, 500)], axis=1)
reckless = LogisticRegression().fit(seen, np.where(seen[:, 0] < 9.5, 2, rng.integers(0, 3, 500)))
order = np.argsort(reckless.classes_)

model = ambs.NumpyModel(step, atoms=["cliff"], state_shape=(2,))
task = ambs.NumpyPolicy(lambda states: reckless.predict_proba(states)[:, order], actions=3, state_shape=(2,))
backup = ambs.NumpyPolicy(brake, actions=3, state_shape=(2,))
shield = ambs.LookaheadShield(model, task, backup, "P>=0.9 [ G<=5 !cliff ]", ambs.Ladder.level("A"))

state, key = np.zeros((1, 2), "float32"), jax.random.key(0)
for time in range(40):
    key, ask, decide = jax.random.split(key, 3)
    proposed = task.sample(state[0], key=ask)
    decision = shield(state[0], proposed, key=decide)
    state, labels, _ = step(state, np.array([int(decision.action)]), rng.random((1, 1)))
    state = state.astype("float32")
    who = "brakes" if bool(decision.overridden) else "drives"
    print(
        f"{time:2}  at {state[0, 0]:5.2f}  speed {state[0, 1]:5.2f}  {who}  (safe in {float(decision.estimate):.2f} of "
        f"{int(decision.traces)} futures)"
    )
    assert not labels["cliff"][0], "fell off the cliff"
