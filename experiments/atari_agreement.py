"""Do the labels of the five games agree with somebody who only watches the screen and counts the lives?

The labels are read from memory; what is read here is pixels and the emulator's count of lives. Each atom has an event
on the screen, seen some frames after the label: an event of one kind is matched with one of the other within that lag.
What remains is listed with its episode and frame, so that it can be looked at.

Random play with the paper's protocol; for Enduro also with the throttle held, because random play hardly ever drives.

    python -m experiments.atari_agreement [--games seaquest ...] [--steps 20000] [--seed 0]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from rich.progress import track

from ambs.envs.atari.game import AtariGame
from ambs.files import write_text

OUT = Path(__file__).parent.parent / "results" / "atari"

# What is seen of an episode: name → one number a frame.
Seen = dict[str, np.ndarray]


@dataclass(frozen=True)
class Witness:
    """How somebody without access to the memory tells the events of a game."""

    see: Callable[[np.ndarray], dict[str, int]]
    """What is seen of one screen."""
    tell: Callable[[Seen], dict[str, np.ndarray]]
    """Atom → on which frames its event is seen."""
    lags: dict[str, tuple[int, int]]
    """Atom → how many frames after the label its event may be seen."""
    how: dict[str, str]
    """Atom → what is watched, in words."""
    actions: dict[str, tuple[int, ...]]
    """Play → the actions to draw from."""


def count(screen: np.ndarray, colour: tuple[int, int, int]) -> int:
    return int((screen == colour).all(axis=-1).sum())


def before(values: np.ndarray, frames: int = 1) -> np.ndarray:
    """The same some frames ago; the first value where there is no such frame."""
    return np.concatenate([np.repeat(values[:1], frames), values])[: len(values)]


def recently(events: np.ndarray, frames: int) -> np.ndarray:
    """Whether there was an event on this frame or up to so many before."""
    total = np.cumsum(events)
    return total - before(total, frames + 1) > 0


# --- Seaquest: the yellow submarine turns white, or vanishes, when it dies; the bar and the icons say the rest ------

YELLOW, OXYGEN = (187, 187, 53), (214, 214, 214)
# The row of the submarine's highest pixel, counted from where the water begins, when it is at the surface.
TOP = 6


def seaquest_see(screen: np.ndarray) -> dict[str, int]:
    yellow = (screen[40:165, 8:] == YELLOW).all(axis=-1)
    return {
        "yellow": int(yellow.sum()),
        "row": int(yellow.any(axis=1).argmax()),
        "oxygen": count(screen[172, 49:112], OXYGEN),
        "divers": int((screen[178:188, 8:] != screen[178, 8]).any(axis=-1).sum()),
    }


def seaquest_tell(seen: Seen) -> dict[str, np.ndarray]:
    alive = seen["yellow"] > 20
    dies = ~alive & before(alive)
    arrives = (before(seen["row"]) == TOP) & (before(seen["row"], 2) > TOP) & before(alive) & before(alive, 2)
    oxygen, divers = before(seen["oxygen"]), np.maximum(seen["divers"], before(seen["divers"]))
    # The bar has 63 pixels for 64 units: that the last unit is missing cannot be seen, but that it filled up can.
    dived = (oxygen > 0) & (oxygen < 63) | dies
    surface = arrives & dived & ((divers > 0) | dies)
    empty = dies & (seen["oxygen"] == 0)
    return {
        "surface": surface,
        "diver": divers > 0,
        "hit": dies & ~empty & ~(surface & (divers == 0)),
        "out-of-oxygen": empty,
        "any violation": seen["lives"] < before(seen["lives"]),
    }


# --- Assault: the heat bar falls from full to almost nothing; any other life lost was a hit ------------------------


def assault_see(screen: np.ndarray) -> dict[str, int]:
    return {"bar": int((screen[195, 80:] != 0).any(axis=-1).sum())}


def assault_tell(seen: Seen) -> dict[str, np.ndarray]:
    overheat = (seen["bar"] <= 12) & (before(seen["bar"]) == 64)
    loses = seen["lives"] < before(seen["lives"])
    return {"overheat": overheat, "hit": loses & ~recently(overheat, 60)}


# --- DoubleDunk: the message at the bottom, whose colour is our team's green or the opponents' white ----------------

GREEN = (45, 129, 105)
# How many pixels of the message are lit tells which one it is.
CLEAR_THE_BALL, OUT_OF_BOUNDS, TURNOVER = 139, 134, 202


def double_dunk_see(screen: np.ndarray) -> dict[str, int]:
    message = screen[181:189, 40:120]
    return {"lit": int((message != 0).any(axis=-1).sum()), "green": count(message, GREEN)}


def double_dunk_tell(seen: Seen) -> dict[str, np.ndarray]:
    ours = np.where(seen["lit"] == seen["green"], seen["lit"], 0)
    return {
        "out-of-bounds": (ours == OUT_OF_BOUNDS) & (before(ours) != OUT_OF_BOUNDS),
        "shoot-bf-clear": (ours == TURNOVER) & (before(ours) == CLEAR_THE_BALL),
    }


# --- Enduro: our car is drawn the lower the slower it drives, and a crash makes it fall in one frame ---------------


def enduro_see(screen: np.ndarray) -> dict[str, int]:
    """The row of our car's body: of what is not the ground, nor thin as the road's edge, the grey piece of its size."""
    road = screen[60:155, 8:]
    ground = np.median(road, axis=1, keepdims=True)
    thick = cv2.morphologyEx((road != ground).any(axis=-1).astype(np.uint8), cv2.MORPH_OPEN, np.ones((1, 6), np.uint8))
    pieces = cv2.connectedComponentsWithStats(thick, connectivity=8)[2][1:].tolist()
    cars = [(x, y) for x, y, width, height, _ in pieces if (width, height) == (12, 6)]
    colours = [int(np.ptp(road[y + 2, x + 6].astype(int))) for x, y in cars]
    return {"row": cars[int(np.argmin(colours))][1] if cars and min(colours) == 0 else 0}


def enduro_tell(seen: Seen) -> dict[str, np.ndarray]:
    # The edge of the road costs it 2 rows at once. Where it touches another car it is not seen as one, and for some
    # frames it is then where it was seen last.
    frames = np.arange(len(seen["row"]))
    last = np.maximum.accumulate(np.where(seen["row"] > 0, frames, 0))
    row = np.where(frames - last <= 12, seen["row"][last], 0)
    return {"crash-car": (row - before(row) >= 3) & (before(row) > 0)}


# --- KungFuMaster: the energy bar gets shorter; the lives are counted -----------------------------------------------

SPENT = (45, 50, 184)


def kung_fu_master_see(screen: np.ndarray) -> dict[str, int]:
    bar = screen[43, 49:88]
    return {"bar": len(bar) - count(bar, SPENT)}


def kung_fu_master_tell(seen: Seen) -> dict[str, np.ndarray]:
    # Energy paid out as points, for a floor cleared, is a loss of 1 that pays 100.
    paid = seen["reward"] == 100
    return {
        "energy-loss": (seen["bar"] < before(seen["bar"])) & ~paid,
        "loose-life": seen["lives"] < before(seen["lives"]),
    }


ALL = tuple(range(18))
WITNESSES = {
    "assault": Witness(
        assault_see,
        assault_tell,
        {"hit": (58, 58), "overheat": (0, 2)},
        {
            "hit": "lives decrease, and the heat bar did not fall before",
            "overheat": "the heat bar falls from full to empty",
        },
        {"random": ALL},
    ),
    "double-dunk": Witness(
        double_dunk_see,
        double_dunk_tell,
        {"out-of-bounds": (0, 2), "shoot-bf-clear": (63, 66)},
        {
            "out-of-bounds": "OUT OF BOUNDS appears in green",
            "shoot-bf-clear": "CLEAR THE BALL! becomes TURNOVER in green",
        },
        {"random": ALL},
    ),
    "enduro": Witness(
        enduro_see,
        enduro_tell,
        {"crash-car": (0, 12)},
        {"crash-car": "our car falls by 3 rows or more in one frame"},
        # FIRE is the throttle; with it to the right and to the left.
        {"random": ALL, "throttle": (1, 1, 1, 1, 11, 12)},
    ),
    "kung-fu-master": Witness(
        kung_fu_master_see,
        kung_fu_master_tell,
        {"loose-life": (39, 39), "energy-loss": (0, 0)},
        {"loose-life": "lives decrease", "energy-loss": "the energy bar gets shorter, and not for points"},
        {"random": ALL},
    ),
    "seaquest": Witness(
        seaquest_see,
        seaquest_tell,
        {"surface": (0, 0), "diver": (0, 0), "hit": (0, 0), "out-of-oxygen": (0, 0), "any violation": (85, 95)},
        {
            "surface": "the submarine has come to the top row, the oxygen bar not full",
            "diver": "diver icons",
            "hit": "the yellow submarine is gone; oxygen is left; not at the end of an ascent without divers",
            "out-of-oxygen": "the yellow submarine is gone, and the oxygen bar is empty",
            "any violation": "lives decrease",
        },
        {"random": ALL},
    ),
}


def episodes(game: str, actions: tuple[int, ...], steps: int, seed: int) -> list[tuple[Seen, Seen]]:
    """What was seen and which labels were true on every frame of every episode; the last one may be cut short."""
    # One frame a step, with the action kept for four: the paper's protocol, but every frame can be looked at.
    env = AtariGame(game, frame_skip=1, size=8, render_mode="rgb_array")
    generator = np.random.default_rng(seed)
    env.reset(seed=seed)
    done: list[tuple[Seen, Seen]] = []
    seen: list[dict[str, int]] = []
    labels: list[dict[str, bool]] = []
    for step in track(range(steps), description=game):
        action = int(generator.choice(actions))
        for _ in range(4):
            _, reward, terminated, _, info = env.step(action)
            sight = WITNESSES[game].see(env.render())
            seen.append({**sight, "lives": env.ale.lives(), "reward": int(reward)})
            labels.append({**info["labels"], "any violation": info["cost"] > 0})
            if terminated:
                break
        if terminated or step == steps - 1:
            done.append((columns(seen), columns(labels)))
            seen, labels = [], []
            env.reset()
    return done


def columns(rows: list[dict]) -> Seen:
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def match(labelled: np.ndarray, seen: np.ndarray, lag: tuple[int, int]) -> tuple[int, list[int], list[int]]:
    """How many events were both labelled and seen; on which frames some were only labelled, or only seen."""
    left = np.flatnonzero(seen).tolist()
    only_labelled = []
    both = 0
    for frame in np.flatnonzero(labelled).tolist():
        found = next((other for other in left if lag[0] <= other - frame <= lag[1]), None)
        if found is None:
            only_labelled.append(frame)
        else:
            left.remove(found)
            both += 1
    return both, only_labelled, left


def agreement(game: str, play: str, steps: int, seed: int) -> list[dict]:
    witness = WITNESSES[game]
    rows = {
        atom: {"game": game, "play": play, "atom": atom, "seen_as": witness.how[atom], "lag": list(lag), "both": 0}
        | {"only_label": [], "only_seen": [], "unfinished": 0}
        for atom, lag in witness.lags.items()
    }
    for number, (seen, labels) in enumerate(episodes(game, witness.actions[play], steps, seed)):
        told = witness.tell(seen)
        for atom, row in rows.items():
            both, only_label, only_seen = match(labels[atom], told[atom], row["lag"])
            length = len(labels[atom])
            row["both"] += both
            row["unfinished"] += sum(frame + row["lag"][1] >= length for frame in only_label)
            row["only_label"] += [(number, frame) for frame in only_label if frame + row["lag"][1] < length]
            row["only_seen"] += [(number, frame) for frame in only_seen]
    return [{**row, "steps": steps, "seed": seed} for row in rows.values()]


def table(rows: list[dict]) -> str:
    lines = [
        "| game, play | atom | what the witness sees | frames later | both | only the label | only the witness |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        low, high = row["lag"]
        lag = str(low) if low == high else f"{low}-{high}"
        cut = f" (+{row['unfinished']} cut off)" if row["unfinished"] else ""
        lines.append(
            f"| {row['game']}, {row['play']} | {row['atom']} | {row['seen_as']} | {lag} | {row['both']} "
            f"| {len(row['only_label'])}{cut} | {len(row['only_seen'])} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="+", choices=sorted(WITNESSES), default=sorted(WITNESSES))
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    rows = [
        row
        for game in options.games
        for play in WITNESSES[game].actions
        for row in agreement(game, play, options.steps, options.seed)
    ]
    options.out.mkdir(parents=True, exist_ok=True)
    write_text(options.out / "agreement.json", json.dumps(rows, indent=1) + "\n")
    write_text(options.out / "agreement.md", table(rows))
    print(table(rows))


if __name__ == "__main__":
    main()
