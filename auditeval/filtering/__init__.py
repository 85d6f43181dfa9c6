"""Keep the best pairs of a manifest by their predicted scores (the paper's Appendix C)."""
