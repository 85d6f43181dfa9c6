"""The rules of the code that SpeechEditBench released, written anew."""
