"""Environments whose `info` says which labels are true and what the safety formula makes them cost."""

from ambs.envs.adapters import from_cost as from_cost
from ambs.envs.catalogue import CATALOGUE as CATALOGUE
from ambs.envs.catalogue import make as make
from ambs.envs.catalogue import register as register
from ambs.envs.conveyor import Conveyor as Conveyor
from ambs.envs.kernel import ACTIONS as ACTIONS
from ambs.envs.labelling import Labelled as Labelled
from ambs.envs.labelling import labelled as labelled
from ambs.envs.labels import cost_of as cost_of
from ambs.envs.maps import MAPS as MAPS
from ambs.envs.spec import EnvSpec as EnvSpec
