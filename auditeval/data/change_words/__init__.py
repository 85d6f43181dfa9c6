"""Changes of how a sound sounds, and the words that ask for them."""
