"""Pages: what is kept and done, for people: rendered here, usable without a script.

routes       all of them
layout       how a page is laid out; files that pages load
refused      why there is no page, as a page
asked        what an address asks for: pages of a list, choices, numbers
shown        traces, texts and results, made safe and short enough to show
held         runs that were read lately, ready to be shown
home         what there is, at a glance
runs         the runs, one run, one of its rows
versus       two runs, compared
datasets     datasets: versions, rows, what changed
traces       what came, and what the rules say of it
queue        what a person is to look at, and what they say of it
automation   rules with their counters, outcomes, what was set aside
entering     logging in and out; light or dark
"""
