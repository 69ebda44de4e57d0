"""Config: the YAML file as a typed record, all its faults reported at once with their path.

Each fault begins with its path, `evaluators[1].trajectory_match.mode: …`. A key that does not exist
is a fault, never ignored. Every evaluator is built, every metric that a threshold names is looked
up, and the dataset must be there; with `look`, its fields too. Paths are relative to the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from trajgrade import sources, yamltext
from trajgrade.agent_spelling import KINDS, AgentConfig, agent_config
from trajgrade.budget import Budget
from trajgrade.comparison.gates import gate_faults
from trajgrade.dataset import Dataset, Selected
from trajgrade.dataset.example import ROLES
from trajgrade.dataset.samples import SAMPLE, sample_path
from trajgrade.errors import ConfigError, TrajgradeError, shorten, unknown
from trajgrade.evaluators.schema import described, evaluators_schema
from trajgrade.evaluators.spelling import Graders, faults_of, graders, likely_keys
from trajgrade.evaluators.written import type_fault
from trajgrade.measured import MEASURED, OnFailure
from trajgrade.record import DATASET, RUN, EngineName
from trajgrade.run import Explain
from trajgrade.sources import Kind
from trajgrade.thresholds import parse_thresholds
from trajgrade.versions import address_of

_ROLES_ONLY = msgspec.Meta(extra_json_schema={"propertyNames": {"enum": list(ROLES)}})
_DECLARED = re.compile(r"(?P<name>.*?): fields: (?P<role>\w+): (?P<fault>.*)")


class DatasetFiles(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Files whose names do not say how they are read.

    Attributes:
        path: A path, a glob pattern, a folder, or a list of those.
        format: How the files are read, whatever their names.
    """

    path: str | list[str]
    format: Kind | None = None


class Config(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What is graded, by what, and what must hold.

    Attributes:
        name: What reports call the run.
        dataset: A path, a glob pattern, a folder, a list of those, `sample:NAME`; or, of the store,
            the dataset `store:NAME@TAG` or the answers of a run, `run:ID`.
        fields: Which field of a row holds which role, as a dotted path; null leaves a role out.
        agent: What answers each row: `module:function`, an address, or `{command: [...]}`.
        trials: How many times the agent answers each example.
        seed: What an agent that asks for it is given for trial 0; one more for each next trial.
        budget: What the run may take before it begins no more rows.
        on_failure: Whether a row on which the agent failed counts as the worst score, or not.
        evaluators: Names, `name: {parameters}`, or `{name, params, key, pass}`.
        judge: The judge of evaluators that name none: `openai:gpt-5-mini`, or its settings.
        ai_support: The judge as Potato's block: `{enabled, endpoint_type, ai_config}`.
        judge_alignment: `{report, ai_support}`: the file that `judge align --save` wrote, shown
            beside what the judge scores; and a judge that counts before `ai_support`.
        thresholds: What must hold, by `metric` or `metric/stat`: `0.8`, `">= 0.8"`, `"<= 2"`.
        baseline: The run that this one is compared with: a file that `-o` wrote, or `run:ID`.
        no_regression: What may not become worse than there: `{metric: …, margin: …}`, or several.
        limit: How many rows are graded at most.
        explain: Which rows are explained by the alignment of their calls.
        fail_on: `any` makes the exit code 1 when any row is in error.
        store: Where runs are kept: `runs.db`, `runs/`, `postgresql://…`; `trajgrade.db` by default.
        experiment: What the run is grouped by in the store.
        engine: Where the work runs: `auto` takes all cores for big files of recorded runs, else
            `event_loop`, this process; or `process_pool`, or `ray`.
        workers: How many processes or tasks at once; by default one for each core.
        automation: What is done with traces of production: `{enabled, rules}`.
        server: How `trajgrade serve` listens, and what it takes at most.
    """

    name: str = ""
    dataset: str | list[str] | DatasetFiles
    fields: Annotated[dict[str, str | None], _ROLES_ONLY] = {}
    agent: AgentConfig | str | None = None
    trials: Annotated[int, msgspec.Meta(ge=1)] = 1
    seed: int = 0
    budget: Budget | None = None
    on_failure: OnFailure = "zero"
    evaluators: Annotated[list[Any], msgspec.Meta(min_length=1)]
    judge: Any = None
    ai_support: dict[str, Any] | None = None
    judge_alignment: dict[str, Any] | None = None
    thresholds: dict[str, Any] = {}
    baseline: str | None = None
    no_regression: Any = None
    limit: Annotated[int, msgspec.Meta(ge=1)] | None = None
    explain: Explain = "worst"
    fail_on: Literal["any", "none"] = "none"
    store: str | None = None
    experiment: str = ""
    engine: EngineName = "auto"
    workers: Annotated[int, msgspec.Meta(ge=1)] | None = None
    automation: dict[str, Any] | None = None
    server: dict[str, Any] | None = None

    def graders(self) -> Graders:
        """Build the evaluators."""
        return graders(self.evaluators)

    def open(self) -> Dataset:
        """Open the dataset.

        Raises:
            DatasetError: It cannot be read, or a field that is named is in no row.
        """
        where = self.dataset
        if isinstance(where, DatasetFiles):
            return Dataset.load(where.path, self.fields, format=where.format)
        if isinstance(where, str) and where.startswith(DATASET):
            from trajgrade.stores.kept import kept_dataset

            return kept_dataset(where, self.fields, store=self.store)
        return Dataset.load(where, self.fields)

    @property
    def is_run(self) -> bool:
        """Whether the answers of a kept run are graded."""
        return isinstance(self.dataset, str) and self.dataset.startswith(RUN)

    def _grading(self) -> dict[str, Any]:
        if self.judge is None:
            return {"evaluators": self.evaluators}
        from trajgrade.evaluators.appointed import with_judge

        found = self.graders()
        return {"evaluators": with_judge(found.evaluators, self.judge), "passes": found.passes}

    def arguments(self) -> dict[str, Any]:
        """Return the config as arguments of `trajgrade.evaluate`."""
        return {
            "dataset": self.dataset if self.is_run else self.open(),
            **self._grading(),
            "thresholds": self.thresholds,
            "select": Selected(limit=self.limit),
            "explain": self.explain,
            "fail_on_error": self.fail_on == "any",
            "name": self.name,
            "experiment": self.experiment,
            "engine": self.engine,
            "workers": self.workers,
            "judge_alignment": (self.judge_alignment or {}).get("report", ()),
            "baseline": self.baseline,
            "no_regression": self.no_regression,
            **self._answering(),
        }

    def _answering(self) -> dict[str, Any]:
        found: dict[str, Any] = {"trials": self.trials, "budget": self.budget}
        if self.agent is None:
            return found
        spelt = agent_config(self.agent, Path()) if isinstance(self.agent, str) else self.agent
        agent = spelt.build(seed=self.seed)
        return found | {"agent": agent, "on_failure": self.on_failure}


def load_config(
    source: str | os.PathLike[str] | Mapping[str, Any],
    *,
    dataset: str | None = None,
    replaced: Mapping[str, Any] | None = None,
    look: bool = False,
) -> Config:
    """Read a config and check all of it.

    Args:
        source: The path of a YAML file, or what one holds.
        dataset: A dataset in place of the config's own, relative to the working directory.
        replaced: Keys in place of the config's own; an agent among them, likewise.
        look: Whether to look into the dataset, too: does it have the fields?

    Raises:
        ConfigError: Anything is wrong; holds all faults, each with its path.
    """
    ambiguous: list[str] = []
    if isinstance(source, Mapping):
        where, folder, document = "", Path(), dict(source)
    else:
        where, folder = os.fspath(source), Path(source).parent
        document = read_document(Path(source), ambiguous)
    checking = _Checking(Path() if replaced and "agent" in replaced else folder)
    document = {**document, **(replaced or {})}
    if dataset is not None:
        document, folder = {**document, "dataset": dataset}, Path()
    config = checking.config(document, folder, look=look)
    told = {fault.partition(": ")[0] for fault in ambiguous}
    faults = [fault for fault in checking.faults if fault.partition(": ")[0] not in told]
    if ambiguous or faults or config is None:
        raise ConfigError(*ambiguous, *dict.fromkeys(faults), where=where)
    return config


def read_document(path: Path, faults: list[str]) -> dict[str, Any]:
    """Return what a config file holds; `faults` gets what can be read in two ways."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        raise ConfigError(sources.absent(str(path))) from None
    except OSError as broken:
        raise ConfigError(f"cannot be read: {broken.strerror or broken}", where=str(path)) from None
    try:
        document = yamltext.loads(text, faults)
    except ConfigError as broken:
        raise ConfigError(*broken.faults, where=str(path)) from None
    if not isinstance(document, dict):
        found = "nothing" if document is None else shorten(document)
        raise ConfigError(
            f"expected an object with the keys {', '.join(_KEYS)}, got {found}", where=str(path)
        )
    return document


_KEYS = Config.__struct_fields__
_JUDGES = {"judge", "ai_support", "judge_alignment"}
_TYPES = {field.name: field for field in msgspec.structs.fields(Config)}


class _Checking:
    """One config on its way from a document to a record, its faults gathered."""

    def __init__(self, home: Path) -> None:
        self.faults: list[str] = []
        self._home = home
        self._answered = False

    def config(self, document: Mapping[str, Any], folder: Path, *, look: bool) -> Config | None:
        """Return the config; None where something is wrong."""
        self.faults += [
            f"{key}: {unknown('key', key, _KEYS)}" for key in document if key not in _KEYS
        ]
        given = {k: v for k, v in document.items() if k in _KEYS and v is not None}
        self._answered = "agent" in given
        self._roles(given)
        found = {key: self._converted(key, value) for key, value in given.items()}
        for key, field in _TYPES.items():
            if field.required and key not in given:
                self.faults.append(f"{key}: is missing")
        found = {key: value for key, value in found.items() if value is not msgspec.UNSET}
        if _JUDGES & found.keys():
            from trajgrade.judging.written import take_judge

            self.faults += take_judge(found, lambda path: placed(path, folder), look=look)
        self._evaluators(found)
        self.faults += gate_faults(found.get("no_regression", ()))
        if not found.get("baseline", RUN).startswith(RUN):
            found["baseline"] = placed(found["baseline"], folder)
        if "dataset" in found:
            self._dataset(found, folder, look=look)
        return None if self.faults else Config(**found)

    def _converted(self, key: str, value: Any) -> Any:
        if key == "evaluators" and not isinstance(value, list):
            self.faults.append(
                f"{key}: expected a list, each evaluator beginning with `- `, got {shorten(value)}"
            )
            return msgspec.UNSET
        try:
            if key == "agent":
                return agent_config(value, self._home)
            if key == "budget":
                return Budget.of(value)
        except ConfigError as wrong:
            self.faults += wrong.faults
            return msgspec.UNSET
        faults = _of_files(value) if key == "dataset" and isinstance(value, Mapping) else []
        fault = None if faults else type_fault(key, _TYPES[key].type, value)
        if faults or fault is not None:
            self.faults += faults if fault is None else [fault]
            return msgspec.UNSET
        return msgspec.convert(value, _TYPES[key].type)

    def _roles(self, given: dict[str, Any]) -> None:
        """Check the names of the roles one by one, and leave out the wrong ones."""
        fields = given.get("fields")
        if not isinstance(fields, Mapping):
            return
        given["fields"] = kept = {}
        for role, path in fields.items():
            if role not in ROLES:
                self.faults.append(f"fields.{role}: {unknown('role', role, ROLES)}")
            elif not isinstance(path, str | None):
                self.faults.append(f"fields.{role}: expected a dotted path, got {shorten(path)}")
            else:
                kept[role] = path

    def _evaluators(self, found: Mapping[str, Any]) -> None:
        keys: list[str] | None = None
        meant: set[str] = set()
        if "evaluators" in found:
            try:
                keys = graders(found["evaluators"]).keys
            except TrajgradeError as wrong:
                self.faults += faults_of(wrong)
                keys, meant = likely_keys(found["evaluators"])
        if keys is not None and self._answered:
            keys = [*keys, *MEASURED]
        for name, bound in found.get("thresholds", {}).items():
            try:
                (threshold,) = parse_thresholds({name: bound})
            except ConfigError as wrong:
                self.faults += wrong.faults
                continue
            if keys is not None and threshold.metric not in {"", *keys, *meant}:
                self.faults.append(
                    f"thresholds.{name}: {unknown('metric', threshold.metric, keys)}"
                )

    def _dataset(self, found: dict[str, Any], folder: Path, *, look: bool) -> None:
        where = placed(found["dataset"], folder)
        found["dataset"] = where
        try:
            if isinstance(where, str) and where.startswith(SAMPLE):
                sample_path(where.removeprefix(SAMPLE))
            elif isinstance(where, str) and where.startswith(DATASET):
                address_of(where)
            elif isinstance(where, str) and where.startswith(RUN):
                return
            elif isinstance(where, DatasetFiles):
                sources.find(where.path, where.format)
            else:
                sources.find(where)
            if look:
                Config(dataset=where, evaluators=[], fields=found.get("fields", {})).open()
        except TrajgradeError as wrong:
            self.faults += [_of_dataset(line) for line in str(wrong).splitlines()]


def _of_files(value: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with a dataset that is written as an object."""
    types = {field.name: field.type for field in msgspec.structs.fields(DatasetFiles)}
    faults = [f"dataset.{k}: {unknown('key', k, [*types])}" for k in value if k not in types]
    if "path" not in value:
        faults.append("dataset.path: is missing")
    found = [type_fault(k, types[k], v) for k, v in value.items() if k in types]
    return faults + [f"dataset.{fault}" for fault in found if fault is not None]


def placed(where: Any, folder: Path) -> Any:
    """Return the paths of a dataset with the config's folder in front."""
    if isinstance(where, DatasetFiles):
        return msgspec.structs.replace(where, path=placed(where.path, folder))
    if isinstance(where, list):
        return [placed(one, folder) for one in where]
    rooted = where.startswith((SAMPLE, RUN, DATASET, "~")) or "://" in where or not where
    return where if rooted or folder == Path() else str(folder / where)


def _of_dataset(line: str) -> str:
    """Return what is wrong with a dataset as a fault of the config."""
    declared = _DECLARED.fullmatch(line)
    if declared is None:
        return f"dataset: {line}"
    return f"fields.{declared['role']}: {declared['name']}: {declared['fault']}"


def config_schema() -> dict[str, Any]:
    """Return the JSON Schema of config files, with the evaluators that are installed."""
    from trajgrade.judging.settings import settings_schema

    item, definitions = evaluators_schema()
    _, parts = msgspec.json.schema_components([Config], ref_template="#/$defs/{name}")
    root = parts.pop("Config")
    records = (DatasetFiles, AgentConfig, Budget)
    described_parts = [(record, parts[record.__name__]) for record in records]
    for record, found in ((Config, root), *described_parts):
        found["description"] = found["description"].partition("\n")[0]
        described(found["properties"], record)
    root["properties"]["evaluators"] |= {"items": item}
    parts["AgentConfig"]["oneOf"] = [{"required": [kind]} for kind in KINDS]
    judge, judges = settings_schema()
    root["properties"]["judge"] |= judge
    root["properties"]["thresholds"]["additionalProperties"] = {"type": ["number", "string"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **root,
        "$defs": {**parts, **judges, **definitions},
    }
