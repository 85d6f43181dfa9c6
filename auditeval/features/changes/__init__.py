"""What words ask for that is no event: another pitch, speed, loudness, voice, room or effect."""
