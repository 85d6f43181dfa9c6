"""Two clips to hear and see: the script and style of both players, captions with their changes.

Pages of the listening test and of reports have them in common.
"""

from __future__ import annotations

from pathlib import Path

STATIC = Path(__file__).parent / "static"
"""player.js (sound), picture.js (waveform, spectrogram, cursor) and player.css."""
