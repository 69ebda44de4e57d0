"""Comparison: is the new run better than the old one, or was that chance?

records       what a comparison says, as plain records
pairing       two runs → the examples that both have, with the scores of each
testing       one metric's pairs → difference, interval, p value, effect, power
compared      all metrics of two runs; what changed, what is missing, what to be wary of
gates         which metric may not become worse, and by how much it may
regression    whether such a gate holds
comparing     two runs, as they are named, → what is found
gating        a run that is to be, held against a baseline
"""
