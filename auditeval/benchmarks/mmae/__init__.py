"""MMAE: rubrics of multiple-choice questions on edits of sound, music and speech."""
