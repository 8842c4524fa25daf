"""Agents after their training: loaded, asked for actions, evaluated and filmed."""

from ambs.runs.evaluate.agent import SavedAgent as SavedAgent
from ambs.runs.evaluate.evaluate import Evaluation as Evaluation
from ambs.runs.evaluate.evaluate import evaluate as evaluate
from ambs.runs.evaluate.loading import load as load
from ambs.runs.evaluate.shields import SHIELDS as SHIELDS
from ambs.runs.evaluate.value_agent import ValueAgent as ValueAgent
