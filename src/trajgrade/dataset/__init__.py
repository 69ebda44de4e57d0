"""Dataset: what is asked and expected, row by row.

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
