"""Other people's benchmarks on their own file layouts: samples and outputs to records to tables."""
