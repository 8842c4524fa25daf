"""A shield beside the environments of an agent that dreams: it remembers what was played, not what it proposed."""

import numpy as np

from ambs.envs.guards import GuardConfig
from ambs.runs.dreamer import train
from ambs.runs.dreamer.run import Run
from ambs.runs.evaluate import evaluate, load
from tests.envs.guards.worlds import CAUSEWAY
from tests.runs.dreamer.small import small


def test_what_was_played_is_remembered(tmp_path, monkeypatch):
    step, acted_for = Run._next_batch, []

    def watched(run, acted):
        proposed = run.position.action.copy()
        batch = step(run, acted)
        if acted:
            np.testing.assert_array_equal(run.position.memory.action, run.position.action)
            acted_for.append(not np.array_equal(proposed, run.position.action))
        return batch

    monkeypatch.setattr(Run, "_next_batch", watched)
    summary = train(small(env_options={"map": CAUSEWAY}, guard=GuardConfig("classical"), steps=100), tmp_path)
    assert (summary["agent"], summary["shield"]) == ("dreamer", "classical")
    assert sum(acted_for) > 3, "there were overrides"
    agent = load(tmp_path)
    _, state = agent.predict(np.stack([agent.make_env().reset(seed=0)[0]] * 2))
    np.testing.assert_array_equal(agent.played(state, [3, 4]).action, np.eye(5)[[3, 4]])
    assert evaluate(agent, episodes=2, envs=2).as_json()["override_rate"] > 0
