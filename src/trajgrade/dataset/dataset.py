"""Dataset: what is asked and expected, row by row, from files, frames and lists.

A dataset holds where its rows are, not the rows: each walk reads them again, JSON Lines and CSV in
constant memory, and no field further than is needed. As many examples come out as rows went in; a
row that cannot be read is an error that names file, row and field.

Rows that share an id and differ in `trial` are trials of one example; two rows with one id and one
trial are an error. Rows without id are named by their number, `#0`, `#1`, …, with the file's name
before it where there are several files.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import msgspec

from trajgrade import sources
from trajgrade.dataset import csvtext
from trajgrade.dataset.example import NAMES, TEXT_BEFORE, TRACE_NAMES, Example, Needs, Role
from trajgrade.dataset.fields import Fields, dotted, nearest
from trajgrade.dataset.marks import Marks
from trajgrade.dataset.orientation import rows_of
from trajgrade.dataset.reader import Outline, check_row, parsed
from trajgrade.dataset.rows import Csv, Frame, Memory, Polars, Rows, from_files
from trajgrade.dataset.samples import SAMPLE, sample_path
from trajgrade.detection import claimants, read
from trajgrade.errors import ConfigError, DatasetError, TraceError, shorten
from trajgrade.glimpse import Glimpse
from trajgrade.matching.paths import lookup
from trajgrade.matching.values import MISSING

_APART = {"response", "reference", "predicted_trajectory", "reference_trajectory"}
_SHOWN = 20  # rows that show what to expect of the others


class Dataset:
    """Rows of examples, read again on each walk; see `Dataset.load`.

    Attributes:
        name: What reports call it.
        fields: The fields that were declared for roles.
    """

    def __init__(
        self, rows: Sequence[Rows], fields: Mapping[str, str | None], name: str, *, empty: bool
    ) -> None:
        self.name = name
        self._rows = tuple(rows)
        self._shown = [_plain(row, place, of) for place, row, of in islice(self._walk(), _SHOWN)]
        if not self._shown and not empty:
            raise DatasetError(f"{name} holds no rows")
        headers = [header.columns for header in self._rows if header.columns is not None]
        keys = chain(*headers, *self._objects())
        self._columns = tuple(dict.fromkeys(map(str, keys)))
        self._fields = Fields(fields, self._columns)
        self.fields = self._fields.declared
        self._traces = self._rows_are_traces()
        self._empty: dict[tuple[str, ...], bool] = {}
        self._check_declared()

    @classmethod
    def load(
        cls,
        source: Any,
        fields: Mapping[str, str | None] | None = None,
        *,
        format: str | None = None,  # noqa: A002 the field's word for it
        name: str | None = None,
        allow_empty: bool = False,
    ) -> Dataset:
        """Find the rows of a dataset and look at the first.

        Args:
            source: A path, a glob pattern, a directory or a list of those; `sample:NAME`; a pandas
                or polars frame, a list of rows, a dict of columns, another dataset.
            fields: Role to dotted path (`{"reference_outputs": "info.task.actions"}`), for roles
                that are not under a known name (`trajgrade.dataset.NAMES`), or not under the first
                that is a column. None in place of a path leaves a role out: `{"id": None}` numbers
                the rows.
            format: `json`, `jsonl`, `csv` or `parquet`, where the files' names and contents should
                not decide.
            name: What reports call it; by default the file's name.
            allow_empty: Whether a dataset without rows is no error.

        Raises:
            DatasetError: The source holds no rows or cannot be read, or a field that was declared
                is in no row.
            UnknownNameError: There is no sample of that name.
        """
        if isinstance(source, str) and source.startswith(SAMPLE):
            rows, _ = _rows(sample_path(source.removeprefix(SAMPLE)), format)
            rows[0].label = found = source
        else:
            rows, found = _rows(source, format)
        declared = dict(source.fields) if isinstance(source, Dataset) else {}
        return cls(rows, {**declared, **(fields or {})}, name or found, empty=allow_empty)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the fields, as far as headers and the first rows show them."""
        return self._columns

    @property
    def texts_apart(self) -> bool:
        """Whether the final texts have fields of their own, or the trajectories Vertex AI's names.

        If so, an empty list of calls is never a text.
        """
        roles: tuple[Role, ...] = ("response", "reference", "outputs", "reference_outputs")
        names = {name for role in roles for name in self._fields.names(role)}
        declared = any(self.fields.get(role) is not None for role in TEXT_BEFORE)
        return declared or not names.isdisjoint(_APART & set(self._columns))

    def __iter__(self) -> Iterator[Example]:
        """Yield every example with all its roles, as they stand."""
        return self.examples()

    def examples(self, needs: Needs | None = None) -> Iterator[Example]:
        """Yield every example, read as far as is needed.

        Args:
            needs: What is read of each; by default every role, as it stands.

        Raises:
            DatasetError: A row cannot be read, or has the id and trial of another.
        """
        seen = Marks()
        for example in self._examples(needs or Needs()):
            if not seen.add(hash((example.id, example.trial))):
                self._refuse_second(example)
            yield example

    def records(self, texts: Collection[str] = ()) -> Iterator[dict[str, Any]]:
        """Yield every row as its fields, whatever role they play.

        A row of a file or frame that is no object, but a list, is under `outputs`.

        Args:
            texts: The columns of CSV files that hold text; what stands in the others is read as a
                number, a flag or a structure, if it is one.

        Raises:
            DatasetError: A row cannot be read.
        """
        for place, row, of in self._walk():
            if isinstance(of, Csv):
                yield {k: v if k in texts or v is None else csvtext.cell(v) for k, v in row.items()}
                continue
            read = _plain(row, place, of, structures=False)
            yield dict(read) if isinstance(read, Mapping) else {"outputs": read}

    def count(self) -> int:
        """Return the number of rows, by walking them without reading what is in them."""
        return sum(1 for _ in self._walk())

    def hash(self) -> str:
        """Return the SHA-256 of the rows as they are stored, unpacked."""
        digest = hashlib.sha256()
        for chunk in chain.from_iterable(rows.content() for rows in self._rows):
            digest.update(chunk)
        return digest.hexdigest()

    def missing_columns(self, needs: Needs) -> str | None:
        """Return what of the needs no row has, in a sentence for each; None where nothing lacks.

        A text evaluator needs a pair of roles, of which one will do.
        """
        roles = needs.roles - {"id", "trial"}
        pairs = [pair for pair in TEXT_BEFORE.items() if roles.issuperset(pair)]
        groups: list[tuple[Role, ...]] = [*pairs]
        groups += [(role,) for role in sorted(roles.difference(*pairs))]
        faults = [self._lacking(group) for group in groups if not self._has(group)]
        faults += [self._lacking_path(path) for path in needs.stored if not self._has((), (path,))]
        return "\n".join(faults) or None

    def __repr__(self) -> str:
        """Return its name and columns."""
        return f"<Dataset {self.name}: {', '.join(self._columns[:12])}>"

    def _walk(self) -> Iterator[tuple[str, Any, Rows]]:
        for rows in self._rows:
            for place, row in rows:
                yield place, row, rows

    @property
    def files(self) -> tuple[Rows, ...]:
        """Where the rows are, one place after the other."""
        return self._rows

    @property
    def outline(self) -> Outline:
        """What headers and first rows show, for another process that reads a part of the rows."""
        return Outline(self._fields, self._shown, self._traces, self.texts_apart)

    def refuse_repeats(self) -> None:
        """Refuse the first row that has the id and trial of an earlier one, if one has.

        Raises:
            DatasetError: One has; both are named.
        """
        for _ in self.examples(Needs(frozenset())):
            pass

    def _examples(self, needs: Needs) -> Iterator[Example]:
        make = self.outline.reader(needs).example
        number = 0
        for rows in self._rows:
            for index, (place, row) in enumerate(rows):
                yield make(row, place, number, index, rows)
                number += 1

    def _refuse_second(self, second: Example) -> None:
        """Refuse an example that has the id and trial of an earlier one, if one truly has."""
        for first in self._examples(Needs(frozenset())):
            if first.row >= second.row:
                return
            if (first.id, first.trial) == (second.id, second.trial):
                trial = "no trial" if first.trial is None else f"trial {first.trial}"
                raise DatasetError(
                    f"{second.source} has the id {second.id!r} and {trial}, as has {first.source}. "
                    "Repeats of one example need a trial each: name its field with fields "
                    "{'trial': …}; for rows that are no repeats, {'id': None} numbers them"
                )

    def _has(self, roles: Iterable[Role], stored: tuple[str, ...] = ()) -> bool:
        key = (*roles, *stored)
        if key not in self._empty:
            examples = self._examples(Needs(frozenset(roles), stored=stored))
            self._empty[key] = not any(
                any(getattr(example, role) is not None for role in roles)
                or any(value is not None for value in example.stored.values())
                for example in examples
            )
        return not self._empty[key]

    def _lacking(self, roles: Sequence[Role]) -> str:
        names = [name for role in roles for name in self._fields.names(role)]
        guess = nearest(names, self._columns)
        near = f" The nearest name is {guess!r}." if guess and guess not in names else ""
        return (
            f"{self.name}: no row has {' or '.join(roles)} "
            f"(looked for {', '.join(names) or 'no field: its names are declared for others'}). "
            f"Fields found: {', '.join(self._columns)}.{near} "
            f"Name the right one: fields {{{roles[-1]!r}: …}}, or --field {roles[-1]}=… of `score`"
        )

    def _lacking_path(self, path: str, role: str = "") -> str:
        guess = nearest([path], list(dotted(self._shown)))
        hint = f" Did you mean {guess!r}?" if guess else ""
        return (
            f"{self.name}: {role}no row has the field {path!r}.{hint} "
            f"Fields found: {', '.join(self._columns)}"
        )

    def _check_declared(self) -> None:
        """Refuse a declared path that is in no row; all of them are read only if it seems so."""
        faults = [
            self._lacking_path(text, f"fields: {role}: ")
            for role, text in self.fields.items()
            if text is not None and self._shown
            for path in [self._fields.path(text)]
            if path[0] not in self._columns or len(path) > 1
            if all(lookup(row, path) is MISSING for row in self._shown)
            if all(
                lookup(_plain(row, place, rows), path) is MISSING
                for place, row, rows in self._walk()
            )
        ]
        if faults:
            raise DatasetError("\n".join(faults))

    def _rows_are_traces(self) -> bool:
        """Whether each row, having nothing under a known name, is a trace as a whole.

        Raises:
            DatasetError: The rows together are one trace.
        """
        known = set(chain.from_iterable(NAMES.values()))
        answers = {*NAMES["outputs"], *NAMES["response"], *TRACE_NAMES}
        columns = set(self._columns)
        if "outputs" in self.fields or answers & columns:
            return False
        beside = known.difference(NAMES["inputs"])
        rows = [{k: v for k, v in row.items() if k not in beside} for row in self._objects()]
        rows = [row for row in rows if row]
        asked = columns.intersection(NAMES["inputs"])  # a trace may say what was asked, a part not
        if len(rows) > 1 and not asked and _are_one_trace(rows):
            raise DatasetError(
                f"{self.name}: the rows ({', '.join(self._columns)}) are the parts of one trace. "
                "A dataset has one example per row: put the trace in a field, {'outputs': …}"
            )
        return bool(rows and claimants(Glimpse(rows[0])))

    def _objects(self) -> list[dict[str, Any]]:
        return [row for row in self._shown if isinstance(row, dict)]


def load_sample(name: str) -> Dataset:
    """Return a bundled dataset; `list_samples()` names them.

    Raises:
        UnknownNameError: There is no sample of that name.
    """
    return Dataset.load(f"{SAMPLE}{name}")


def _rows(source: Any, kind: str | None) -> tuple[Sequence[Rows], str]:
    """Return the rows of a source, and what it is called."""
    if isinstance(source, (str, os.PathLike)):
        found = sources.find(source, kind)
        name = found[0].path.name if len(found) == 1 else os.fspath(source)
        return from_files(found), name
    if isinstance(source, Iterator):
        source = list(source)
    if isinstance(source, list) and source and isinstance(source[0], (str, os.PathLike)):
        found = sources.find(source, kind)
        return from_files(found), found[0].path.name if len(found) == 1 else f"{len(found)} files"
    if kind is not None:
        raise ConfigError(f"format: {kind!r} is given, but the dataset is no file")
    if isinstance(source, Dataset):
        return source._rows, source.name  # noqa: SLF001 of the same class
    if hasattr(source, "itertuples") and hasattr(source, "columns"):
        return [Frame(source)], "data frame"
    if hasattr(source, "iter_rows") and hasattr(source, "columns"):
        return [Polars(source)], "data frame"
    if hasattr(source, "collect_schema") and hasattr(source, "collect"):
        return [Polars(source.collect())], "data frame"
    if isinstance(source, Mapping):
        return [Memory(rows_of(source, "the dataset"))], "dataset"
    if isinstance(source, Iterable) and not isinstance(source, bytes):
        return [Memory(list(source))], "dataset"
    raise DatasetError(
        f"expected a path, a data frame, a list of rows or a dict of columns, got {shorten(source)}"
    )


def _are_one_trace(rows: list[Any]) -> bool:
    try:
        return len(read(rows)) == 1
    except TraceError:
        return False


def _plain(row: Any, place: str, rows: Rows, *, structures: bool = True) -> Any:
    """Return a row parsed, for a look at its fields; cells too, where structures are asked for."""
    if isinstance(row, (bytes, msgspec.Raw)):
        row = parsed(row, place)
    if isinstance(row, Example):
        return {role: value for role, value in msgspec.structs.asdict(row).items() if value}
    check_row(row, place)
    if rows.table and structures:
        return {k: csvtext.structure(v) if isinstance(v, str) else v for k, v in row.items()}
    return row
