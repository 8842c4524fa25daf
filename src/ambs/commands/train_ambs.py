"""Training with a shield: from options to what is shielded and how."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from ambs.errors import AmbsError, FormulaError
from ambs.logic import parse, syntax

if TYPE_CHECKING:
    from ambs.agents.shielding import ShieldConfig
    from ambs.behaviour.penalties import PenaltyConfig
    from ambs.commands.train import Train
    from ambs.runs.dreamer import RunConfig


@dataclass(frozen=True)
class AmbsOptions:
    """Only for the agent ambs."""

    criterion: str | None = None
    """How a trace is judged: sound (H steps of drawn events, and a critic for the probability of a violation beyond),
    rollout (all T steps, no critic), paper (discounted cost with the twin critics), latent (H steps and no further),
    recover (as rollout, but with the safe policy after the proposed action) or either (recover, and rollout of what it
    refuses); either if not given, and sound with --backup."""

    look_ahead: int | None = None
    """T, steps that the shield looks ahead; 30 if not given, here or in the formula."""

    tolerance: float | None = None
    """Delta, how likely a violation may be; 0.1 if not given, here or in the formula."""

    epsilon: float | None = None
    """Of the paper's test; 0.09 if not given."""

    traces: int | None = None
    """How many traces the paper's test draws; 512 if not given."""

    twins: str | None = None
    """Which of the twin critics the criterion paper believes: min or max; min if not given."""

    first: str | None = None
    """The first action of a trace: proposed, or resampled as the paper's own code has it; proposed if not given."""

    safety_discount: bool = True
    """Whether violating states are terminal to the twin critics, so that no state is worth more than one violation; off
    to compare with."""

    backup: str | None = None
    """A backup policy of your own as module:function, from an observation to an action; the safe policy that is learned
    if not given."""

    shield_after: int | None = None
    """Steps after the random ones at the beginning before the shield begins; 0 if not given."""

    shield_when: float | None = None
    """How well violations have to be foretold before the shield begins: a Brier skill, 0 for no better than their
    frequency, 1 for perfectly; whatever it is if not given."""

    explore: int | None = None
    """Steps from where the shield begins in which every other environment proposes random actions, and the shield
    decides; all of them do, however long, until a reward other than 0 was met, since a task policy that knows of none
    goes nowhere by itself; 0, no random proposals, if not given."""

    unsafe_ends: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """The task policy hopes for nothing beyond a violation, as if the episode ended there; as in the paper, it knows
    nothing of safety if not given."""

    unsafe_share: float | None = None
    """How much of what could still be gained a violation takes from the task policy's hopes, with --unsafe-ends; 1, all
    of it, if not given."""

    safe_actions: str | None = None
    """What the safe policy plays and is imagined to: likeliest, or sampled as in the paper; or searched, by which it is
    imagined to play its likeliest, and plays the action after which most futures imagined so are safe; likeliest if
    not given."""

    safe_entropy: float | None = None
    """The weight of the safe policy's entropy; as --entropy if not given."""

    penalty: str | None = None
    """What the task policy is told of safety: none, critic (cost counts against reward), plpg (actions count by how
    likely they are safe) or copt (nothing is learned from imagined violations); none if not given."""

    penalty_weight: float | None = None
    """How much of the penalty; 1 if not given."""


def shielded(config: RunConfig, command: Train, options: AmbsOptions) -> RunConfig:
    """The run, with a shield and with what a shield needs to be learned."""
    from ambs.agents.shielding import ShieldConfig
    from ambs.runs.dreamer.config import with_safety

    safe, Delta, look_ahead = taken_apart(command.formula, options)
    criterion = options.criterion or (None if options.backup is None else "sound")
    given: dict[str, Any] = {
        "criterion": criterion, "test": command.test, "Delta": Delta, "epsilon": options.epsilon,
        "traces": options.traces, "twins": options.twins, "first": options.first, "after": options.shield_after,
        "backup": options.backup, "when": options.shield_when, "safe_actions": options.safe_actions,
        "explore": options.explore,
    }  # fmt: skip
    shield = ShieldConfig(**{name: value for name, value in given.items() if value is not None})
    _require_used(shield, options)
    _require_reached(shield, config.learner.behaviour.horizon, look_ahead, options)
    learner = with_safety(
        config.learner,
        30 if look_ahead is None else look_ahead,
        _penalty(options),
        safety_discount=options.safety_discount,
        unsafe_ends=options.unsafe_ends,
        unsafe_share=1.0 if options.unsafe_share is None else options.unsafe_share,
        entropy=options.safe_entropy,
    )
    return dataclasses.replace(config, formula=safe, learner=learner, shield=shield)


def _require_used(shield: ShieldConfig, options: AmbsOptions) -> None:
    """What is given is asked for, or refused: nothing is left out in silence."""
    by_paper = shield.test == "paper" or (shield.test == "auto" and shield.criterion == "paper")
    for name in ("epsilon", "traces"):
        if getattr(options, name) is not None and not by_paper:
            raise AmbsError(
                f"--{name} is of the paper's test, and this shield decides by another; add --test paper or --criterion "
                "paper, or leave it out."
            )
    if options.unsafe_share is not None and not options.unsafe_ends:
        raise AmbsError(
            "--unsafe-share says how much of its hopes a violation takes from the task policy, and without "
            "--unsafe-ends it takes nothing; add --unsafe-ends, or leave it out."
        )
    if options.twins is not None and shield.criterion != "paper":
        raise AmbsError(
            f"--twins is of the criterion paper, and the criterion {shield.criterion} does not ask the twin critics; "
            "add --criterion paper, or leave it out."
        )


def _require_reached(shield: ShieldConfig, horizon: int, look_ahead: int | None, options: AmbsOptions) -> None:
    """A T that was asked for is looked at whole. If the formula asks for it, less would be another formula."""
    if shield.criterion != "latent" or look_ahead is None or look_ahead <= horizon:
        return
    asked = f"the formula asks for {look_ahead}" if options.look_ahead is None else f"--look-ahead is {look_ahead}"
    raise AmbsError(
        f"the criterion latent looks {horizon} steps ahead, no further than behaviour is imagined, and {asked}; "
        f"imagine as many steps (--horizon {look_ahead}), look less far ahead, or take --criterion rollout."
    )


def _penalty(options: AmbsOptions) -> PenaltyConfig | None:
    from ambs.behaviour.penalties import PenaltyConfig

    if options.penalty in (None, "none"):
        if options.penalty_weight is not None:
            raise AmbsError("--penalty-weight is given, and there is no penalty; add --penalty critic, plpg or copt.")
        return None
    return PenaltyConfig(options.penalty, 1.0 if options.penalty_weight is None else options.penalty_weight)


def taken_apart(formula: str | None, options: AmbsOptions) -> tuple[str | None, float | None, int | None]:
    """Ψ, Δ and T, from `P>=1-Δ [ G<=T Ψ ]` or from the options."""
    parsed = None if formula is None else parse(formula)
    if not isinstance(parsed, syntax.ProbabilityBound):
        return formula, options.tolerance, options.look_ahead
    path = parsed.path
    whole = isinstance(path, syntax.Globally) and path.steps.lower == 0 and path.steps.upper is not None
    if not whole or parsed.comparison not in (">=", ">"):
        raise FormulaError(f"a shield that is learned keeps P>=p [ G<=n safe ], and '{parsed}' is not of that form.")
    assert isinstance(path, syntax.Globally)
    for name, value in (("look-ahead", options.look_ahead), ("tolerance", options.tolerance)):
        if value is not None:
            raise AmbsError(f"--{name} is given twice: the formula '{parsed}' says it too; leave one of them out.")
    return str(path.operand), round(1 - parsed.threshold, 12), path.steps.upper
