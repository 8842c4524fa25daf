"""Shields that live beside an environment, since they ask the environment itself, or a table of it, and no agent."""

from ambs.envs.guards.config import GUARDS as GUARDS
from ambs.envs.guards.config import GuardConfig as GuardConfig
from ambs.envs.guards.guarded import Guard as Guard
from ambs.envs.guards.guarded import Guarded as Guarded
from ambs.envs.guards.guarded import Verdict as Verdict
from ambs.envs.guards.making import guarded_maker as guarded_maker
