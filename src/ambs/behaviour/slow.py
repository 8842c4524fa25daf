"""Slow copies of networks, which give what is learned from one's own guesses something to hold on to."""

from __future__ import annotations

from typing import TypeVar

import equinox as eqx
import jax

Net = TypeVar("Net")


def follow(slow: Net, net: Net, decay: float) -> Net:
    """The slow copy one update later: `decay` of it is left."""
    return jax.tree.map(lambda old, new: decay * old + (1 - decay) * new if eqx.is_array(old) else old, slow, net)
