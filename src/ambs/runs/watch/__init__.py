"""Watching an environment: who acts, what is seen, the panel beside the frame, the video and the contact sheet."""

from ambs.runs.watch.watch import watch as watch
