"""Penalties for the task policy, from the authors' follow-up: one file each, behind one interface."""

from ambs.behaviour.penalties.base import Judges, Penalised, Penalty, PenaltyConfig
from ambs.behaviour.penalties.copt import copt
from ambs.behaviour.penalties.critic import penalty_critic
from ambs.behaviour.penalties.plpg import plpg

PENALTIES: dict[str, Penalty] = {"critic": penalty_critic, "plpg": plpg, "copt": copt}

__all__ = ["PENALTIES", "Judges", "Penalised", "Penalty", "PenaltyConfig"]
