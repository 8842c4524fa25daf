"""MinAtar's five games with labels: what Atari is to a graphics card, these are to a processor."""
