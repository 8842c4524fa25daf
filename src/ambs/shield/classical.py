"""The classical shield: the dynamics are known, so every state and action is decided exactly, once and for all."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from ambs.errors import AmbsError, FormulaError
from ambs.logic import FiniteModel, check, look_ahead, syntax
from ambs.shield.fitting import require_numbers
from ambs.shield.lookahead import safety_formula
from ambs.types import Decision


class ClassicalShield(eqx.Module):
    """Lets an action through if the best that can be done after it satisfies the formula; else plays the safest.

    Among equally safe actions it plays the one with the largest `prefer[s, a]`, if that is given (the safest alone may
    stand still for ever).

    Because it is exact, `P>=1` may be asked of it, and `P>p` is not satisfied by p itself.

    One end of the comparison: no error of model or sampling, but a table of the true dynamics is needed. `G<=n Ψ`
    counts the n states that follow the action, as in the look-ahead shield.

    Attributes:
        safety: Q(s, a), the probability of the path formula if a is played in s and then the safest policy.
        allowed: where it is enough.
        backup: what is played where it is not.
    """

    safety: Float[Array, "states actions"]
    allowed: Bool[Array, "states actions"]
    backup: Int[Array, " states"]

    def __init__(
        self,
        model: FiniteModel,
        formula: str | syntax.Formula,
        *,
        Delta: float = 0.1,
        horizon: int = 30,
        prefer: Any = None,
    ) -> None:
        bound = safety_formula(formula, Delta=Delta, horizon=horizon, exact=True)
        if not isinstance(bound.path, syntax.Globally) or bound.path.steps.lower:
            raise FormulaError(f"a classical shield takes formulas of the form P>=p [ G<=n safe ], not '{bound}'.")
        steps = look_ahead(bound.path)
        assert steps is not None
        rest = syntax.ProbabilityQuery(syntax.Globally(bound.path.operand, syntax.Steps(0, steps - 1)), "max")
        value = check(model, rest).values
        assert value is not None
        actions = int(np.diff(model.choice_start).max())
        safety = np.full((model.states, actions), -np.inf)
        offset = np.arange(model.choices) - model.choice_start[model.choice_state]
        safety[model.choice_state, offset] = model.kernel @ value
        preference = np.zeros(safety.shape) if prefer is None else np.asarray(prefer, float)
        if preference.shape != safety.shape or np.isnan(preference).any():
            raise AmbsError(
                f"prefer has to be {model.states} by {actions} numbers, one for each state and action, without NaN; it "
                f"has shape {preference.shape}."
            )
        safest = safety >= safety.max(axis=1, keepdims=True) - 1e-9
        self.backup = jnp.asarray(np.where(safest, preference, -np.inf).argmax(axis=1))
        self.safety = jnp.asarray(safety, jnp.float32)
        # Rounding must neither refuse what is just enough nor let through what is just not.
        margin = 1e-12 if bound.comparison == ">" else -1e-12
        self.allowed = jnp.asarray(safety >= bound.threshold + margin)

    def __call__(self, state: Any, proposed: Any, *, key: Any = None) -> Decision:
        states, actions = self.safety.shape
        require_numbers((states, actions), state, proposed)
        overridden = ~self.allowed[state, proposed]
        action = jnp.where(overridden, self.backup[state], proposed)
        exact = self.safety[state, proposed]
        return Decision(action, overridden, exact, exact, exact, jnp.asarray(0))
