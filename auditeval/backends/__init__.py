"""Pretrained models that benchmarks listen with, behind one call: a clip in, a result out."""
