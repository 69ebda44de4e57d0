"""Dataset: what is asked and expected, row by row.

Which field holds which role is chosen once for all rows, from the headers and the first 20 rows:
the field that is declared, else the first known name that any of them has. A row that lacks it has
None for that role, also where it has another of the known names: rows whose names differ need
`fields`, or one name. A field that is declared for one role is no other role's.

rows          from files, frames and lists, one after another (`orientation`: of a JSON text)
fields        which fields of a row hold which role
plan          JSON text decoded no further than is needed
reader        a row becomes an `Example`
dataset       all of them, read again on each walk
csvtext       cells in and out
"""

from trajgrade.dataset.dataset import Dataset, load_sample
from trajgrade.dataset.example import NAMES, Example, Needs, Role
from trajgrade.dataset.samples import list_samples
from trajgrade.dataset.selection import Selected

__all__ = [
    "NAMES",
    "Dataset",
    "Example",
    "Needs",
    "Role",
    "Selected",
    "list_samples",
    "load_sample",
]
