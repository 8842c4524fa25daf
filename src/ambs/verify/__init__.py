"""The paper's promised verification: its theorems, as printed and as corrected, against exact probabilities."""

from ambs.verify.experiments import EXPERIMENTS as EXPERIMENTS
from ambs.verify.experiments import verify as verify
from ambs.verify.settings import Settings as Settings
