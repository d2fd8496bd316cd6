"""The parts of `bench/soak.py`: long runs with faults, and what must be left of them: nothing."""
