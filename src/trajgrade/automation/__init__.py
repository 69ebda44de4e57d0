"""Automation: what is done when a trace comes that fits a rule.

conditions    `when:`, as a tree that says whether an item fits, and if not, why
rules         `automation.rules:`, read, checked and put in order; which of them fire for an item
items         a trace as rules see it: its own fields, and what trajgrade reads from it
loading       the rules of a config file, with what their actions need of the file beside them
making        the actions of rules, built
origin        traces of trajgrade's own work, which rules are not asked of
recorded      the traces of files as they stand, to try rules on
reviewed      what people said in a review queue: labels, a run, rows
schema        the JSON Schema of rules
trying        what rules would do with a trace
"""
