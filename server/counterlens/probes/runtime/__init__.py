"""Runtime behaviour: which lines run, which comes next, states, the output, an input that gives it."""
