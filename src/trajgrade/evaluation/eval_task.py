"""EvalTask: a dataset and metrics under Vertex AI's names, graded on this machine.

The task reads the dataset, fills the prompts and names the columns; everything else is the core's:
`trajgrade.evaluate` calls the agent, grades the rows and sums up, and its `Run` is in the result.
"""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trajgrade import runner
from trajgrade.counted import Progress
from trajgrade.dataset import Dataset
from trajgrade.errors import ConfigError, DatasetError
from trajgrade.evaluation.answering import Answers, answering
from trajgrade.evaluation.baseline import with_baseline
from trajgrade.evaluation.columns import PREDICTED, PROMPT, RESPONSE, TEXTS, Columns, Row
from trajgrade.evaluation.eval_result import EvalResult
from trajgrade.evaluation.examples import fields_of, whole, without_gaps
from trajgrade.evaluation.judged import AutoraterConfig
from trajgrade.evaluation.metrics import built
from trajgrade.evaluation.notebook_utils import display_lines
from trajgrade.evaluation.places import Places
from trajgrade.evaluation.prompt_template import PromptTemplate
from trajgrade.evaluation.summed import kept_runs, metadata_of, summary_metrics, without_scores
from trajgrade.evaluation.table import Table, frame_of
from trajgrade.evaluators.rated import Pairwise
from trajgrade.measured import OnFailure
from trajgrade.pace import MAX_CONCURRENCY

if TYPE_CHECKING:
    from pandas import DataFrame

_BASELINE = "baseline_model_response"
_RETRY_TIMEOUT = 120.0


class EvalTask:
    """A dataset and metrics.

    Args:
        dataset: A pandas frame, a dict of columns, rows, or a path to CSV, JSON or JSON Lines.
        metrics: Names, metrics, evaluators, functions.
        experiment: What its runs are grouped by.
        metric_column_mapping: Which column is meant by a name of Vertex AI's.
        output_uri_prefix: The folder that each run's metrics table is written to.
        autorater_config: Which model judges.
        store: Where its runs are kept, a `Store` or an address (`runs.db`); None keeps them for as
            long as the task is there.

    Raises:
        ConfigError: A metric or column that there is not, or a metric that needs a judge.
        DatasetError: The dataset cannot be read.
    """

    def __init__(
        self,
        *,
        dataset: Any,
        metrics: Sequence[Any],
        experiment: str | None = None,
        metric_column_mapping: Mapping[str, str] | None = None,
        output_uri_prefix: str | None = None,
        autorater_config: AutoraterConfig | None = None,
        store: Any = None,
    ) -> None:
        opened = Dataset.load(dataset)
        self._name = opened.name
        self._rows = [without_gaps(row) for row in opened.records(TEXTS)]
        self._frame = dataset if hasattr(dataset, "itertuples") else None
        self._metrics = metrics
        self._graders = built(metrics, autorater_config)
        self._columns = Columns(self._rows, metric_column_mapping)
        self._experiment = experiment
        self._store = store
        self._autorater_config = autorater_config
        self._places = Places(output_uri_prefix)
        self._runs: list[EvalResult] = []

    @property
    def dataset(self) -> DataFrame:
        """The dataset as a frame.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        frame: DataFrame = (
            frame_of(self._rows, "EvalTask.dataset") if self._frame is None else self._frame
        )
        return frame

    @property
    def metrics(self) -> Sequence[Any]:
        """The metrics as they were given."""
        return self._metrics

    @property
    def experiment(self) -> str | None:
        """What its runs are grouped by."""
        return self._experiment

    @property
    def autorater_config(self) -> AutoraterConfig | None:
        """Which model judges."""
        return self._autorater_config

    @property
    def output_uri_prefix(self) -> str | None:
        """The folder that each run's metrics table is written to, as it was given."""
        return self._places.prefix

    def evaluate(
        self,
        *,
        model: Any = None,
        runnable: Any = None,
        prompt_template: str | PromptTemplate | None = None,
        experiment_run_name: str | None = None,
        response_column_name: str | None = None,
        baseline_model_response_column_name: str | None = None,
        evaluation_service_qps: float | None = None,
        retry_timeout: float = _RETRY_TIMEOUT,
        output_file_name: str | None = None,
        max_concurrency: int = MAX_CONCURRENCY,
        on_failure: OnFailure = "zero",
        on_progress: Progress | None = None,
    ) -> EvalResult:
        """Have each prompt answered, if something answers, and grade the rows.

        Args:
            model: A function from prompt to text, sync or async, or the name of a model,
                `openai:gpt-5-mini`, which gives the responses.
            runnable: A function of the prompt, sync or async, or an object with `query(input=…)`,
                which gives responses and trajectories.
            prompt_template: What the prompts are made of, its variables being columns.
            experiment_run_name: The run's name in the experiment.
            response_column_name: The column that holds the responses.
            baseline_model_response_column_name: The column that holds the other responses of pairs.
            evaluation_service_qps: Without effect: no service is asked.
            retry_timeout: Without effect, as above.
            output_file_name: A CSV file that the metrics table is written to.
            max_concurrency: How many prompts are being answered at once.
            on_failure: Whether a row on which the agent failed counts as 0, or is left out.
            on_progress: Called with the number of rows done.

        Raises:
            ConfigError: The arguments do not fit each other or the dataset.
            DatasetError: A metric needs a column that the dataset does not have.
            InterruptedRunError: The run was interrupted; it holds the rows done until then.
        """
        _warn_of_services(evaluation_service_qps, retry_timeout)
        run_name = self._run_name(experiment_run_name)
        given = {RESPONSE: response_column_name, _BASELINE: baseline_model_response_column_name}
        columns = self._columns.also({k: v for k, v in given.items() if v is not None})
        rows: Sequence[Row] = [*self._rows]
        if prompt_template is not None:
            rows = _prompted(rows, prompt_template, columns)
            columns = Columns(rows, {**columns.mapping, PROMPT: PROMPT})
        gives = _given(runnable, model)
        if gives:
            _check_prompts(columns)
        rows, columns = with_baseline(rows, self._metrics, columns, max_concurrency=max_concurrency)
        columns.check(self._graders.evaluators, gives)
        _check_held([c for c in map(columns.of, gives) if c is not None], gives)
        rows = [whole(row, columns) for row in rows]
        agent = answering(runnable, model, max_concurrency=max_concurrency)
        answers = Answers(rows, agent) if agent is not None else None
        run = runner.evaluate(
            Dataset.load(rows, fields_of(rows), name=self._name),
            self._graders.evaluators,
            passes=self._graders.passes,
            agent=agent,
            on_failure=on_failure,
            name=run_name,
            on_progress=on_progress,
            on_row=answers,
            store=self._store,
            experiment=self._experiment or "",
        )
        answered = rows if answers is None else answers.of(run)
        errors = () if answers is None else [row.agent_error for row in run.rows]
        frame = self._frame
        pairs = {m.key for m in self._graders.evaluators if isinstance(m, Pairwise)}
        table = Table(answered, run, self._graders.evaluators, frame, gives, errors)
        result = EvalResult(
            summary_metrics(run, answered, pairs),
            metadata=metadata_of(run, self._experiment, prompt_template),
            run=run,
            table=table,
        )
        written = self._places.write(table, output_file_name)
        if written is not None:
            result.metadata["output_file"] = str(written)
        self._runs.append(result)
        for lack in without_scores(run):
            warnings.warn(lack, stacklevel=2)
        return result

    def display_runs(self) -> None:
        """Show the runs of the experiment that the store has, the oldest first.

        Without a store, those of this task.

        Raises:
            ConfigError: The task has no experiment.
            StoreError: The store cannot be read.
        """
        if self._experiment is None:
            raise ConfigError("display_runs: name an experiment: EvalTask(…, experiment='…')")
        if self._store is None:
            lines = [{**result.metadata, **result.summary_metrics} for result in self._runs]
        else:
            lines = kept_runs(self._store, self._experiment)
        display_lines(lines, f"Experiment {self._experiment}")

    def _run_name(self, given: str | None) -> str:
        if given and self._experiment is None:
            raise ConfigError(
                f"experiment_run_name={given!r}: the task has no experiment to name a run in: "
                "EvalTask(…, experiment='…')"
            )
        return given or str(uuid.uuid4())

    def __repr__(self) -> str:
        """Return dataset and metrics."""
        keys = ", ".join(metric.key for metric in self._graders.evaluators)
        return f"<EvalTask of {len(self._rows)} rows from {self._name}: {keys}>"


def _prompted(rows: Sequence[Row], template: str | PromptTemplate, columns: Columns) -> list[Row]:
    """Return the rows with their prompts, made of their columns."""
    filling = PromptTemplate(template)
    if not str(filling).strip():
        raise ConfigError("prompt_template: it is empty")
    faults = [
        f"prompt_template: {{{name}}}: {columns.absent(name)}. For braces that are no variable "
        f"write {{{{{name}}}}}"
        for name in sorted(filling.variables)
        if columns.of(name) is None
    ]
    if faults:
        raise ConfigError(*faults)
    return [
        {**row, PROMPT: str(filling.fill({n: columns.value(row, n) for n in filling.variables}))}
        for row in rows
    ]


def _given(runnable: Any, model: Any) -> tuple[str, ...]:
    """Return the columns that are answered."""
    if runnable is not None:
        return (RESPONSE, PREDICTED)
    return (RESPONSE,) if model is not None else ()


def _check_prompts(columns: Columns) -> None:
    if columns.of(PROMPT) is None:
        raise DatasetError(
            f"a prompt is needed for each row: {columns.absent(PROMPT)}. Rename the right one, or "
            "give a prompt_template made of columns"
        )


def _check_held(held: Sequence[str], gives: Sequence[str]) -> None:
    """Say which columns of the dataset do not count, as something answers."""
    if held and PREDICTED not in gives:
        raise ConfigError(
            f"evaluate: model gives the responses, and the dataset holds some in {held[0]!r}: "
            "leave model out to grade those, or drop the column"
        )
    if held:
        warnings.warn(
            "the runnable answers every prompt; what the dataset holds does not count in "
            f"{', '.join(map(repr, held))}",
            stacklevel=3,
        )


def _warn_of_services(qps: float | None, retry_timeout: float) -> None:
    given = [f"evaluation_service_qps={qps}"] if qps is not None else []
    given += [f"retry_timeout={retry_timeout}"] if retry_timeout != _RETRY_TIMEOUT else []
    if given:
        warnings.warn(
            f"{' and '.join(given)}: metrics are computed here, by no service that could be asked "
            "too often; max_concurrency=… bounds the calls of runnable and model",
            stacklevel=3,
        )
