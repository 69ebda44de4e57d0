"""JudgedEvaluator: what all evaluators share that ask a judge.

The judge is the one given as `judge` or `endpoint`, else that of Potato's block in `config`, else
the run's, else `TRAJGRADE_JUDGE`. Several judges are a panel, `samples` asks each more than once;
every vote is recorded (`trajgrade.evaluators.votes`). What the agent wrote goes to the judge as
data, fenced. A judge that cannot be reached is an error of kind `judge`; a verdict that cannot be
read after one more request is not evaluated.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, ClassVar, Literal

from trajgrade.contracts import Judge, Reads
from trajgrade.errors import ConfigError, TraceError
from trajgrade.evaluators.evaluator import Evaluator, check_choice
from trajgrade.evaluators.votes import Reduce, Tie, check_votes, combined
from trajgrade.judging.chosen import judges_of
from trajgrade.result import EvaluationResult
from trajgrade.trajectory import Trajectory


@cache
def template(name: str) -> str:
    """Return a prompt of ours: `prompts/<name>.md`."""
    return files("trajgrade.evaluators").joinpath("prompts", f"{name}.md").read_text("utf-8")


@dataclass(frozen=True, kw_only=True)
class JudgedEvaluator(Evaluator):
    """Asks a judge. A subclass says what, in `vote`.

    A subclass has `config`, Potato's block with `ai_support`, and `endpoint`, what answers prompts:
    an object with `query(prompt, schema)`, a model, a function.

    Attributes:
        judge: A judge, its name (`openai:gpt-5-mini`), its settings, or a list of these: a panel.
        samples: How often each judge is asked.
        reduce: Whether several votes are averaged or counted; by default numbers are averaged.
        tie: Which of several most frequent votes counts: the `lowest`, the `highest`, or `none`.
        key: The metric's name.
    """

    reads: ClassVar[Reads] = "raw"
    range: ClassVar[tuple[float, float] | None] = (0.0, 1.0)
    direction: ClassVar[Literal["higher", "lower"] | None] = "higher"
    counts_votes: ClassVar[bool] = False

    judge: Any = None
    samples: int = 1
    reduce: Reduce | None = None
    tie: Tie | None = None
    key: str = "judged"

    def __post_init__(self) -> None:
        """Check the parameters.

        Raises:
            ConfigError: One has a value that it cannot have.
        """
        if isinstance(self.samples, bool) or not isinstance(self.samples, int) or self.samples < 1:
            raise ConfigError(f"samples: a whole number above 0 is needed, got {self.samples!r}")
        if self.reduce is not None:
            check_choice("reduce", self.reduce, Reduce)
        if self.tie is not None:
            check_choice("tie", self.tie, Tie)
        panel = len(self.judge) if isinstance(self.judge, (list, tuple)) else 1
        if panel * self.samples > 1:
            check_votes(panel * self.samples, self.how, self.tie)

    @property
    def how(self) -> Reduce:
        """How several votes are made one."""
        return self.reduce or ("majority" if self.counts_votes else "mean")

    def prepare(self) -> None:
        """Make the judges, so that one that is missing is told before the first row."""
        self.judges()

    def judges(self) -> Sequence[Judge]:
        """Return the judges.

        Raises:
            ConfigError: There is none, or one cannot be made.
            MissingExtraError: The provider's package is not installed.
        """
        return self._judges

    @cached_property
    def _judges(self) -> Sequence[Judge]:
        endpoint, config = getattr(self, "endpoint", None), getattr(self, "config", None)
        return judges_of(self.judge, endpoint=endpoint, config=config)

    async def voted(self, example: Mapping[str, Any]) -> EvaluationResult:
        """Ask every judge as often as is wanted, and return what the votes come to."""
        asked = [(judge, n) for judge in self.judges() for n in range(self.samples)]
        votes = await asyncio.gather(*(self.vote(judge, n, example) for judge, n in asked))
        return combined(self.key, votes, self.how, self.tie)

    async def vote(self, judge: Judge, sample: int, example: Mapping[str, Any]) -> EvaluationResult:
        """Ask one judge once.

        Args:
            judge: The judge.
            sample: Which of its answers this is.
            example: What is judged, as text, by name.
        """
        raise NotImplementedError(type(self).__name__)


def spoken(outputs: Any, response: Any = None) -> str | None:
    """Return what the agent said at the end, as text; None where it said nothing.

    Args:
        outputs: A trace in any shape, or a text, or a structure.
        response: The final text, where the row has it apart.
    """
    if response is not None:
        return text_of(response)
    if outputs is None or isinstance(outputs, str):
        return outputs
    try:
        return Trajectory.from_any(outputs).final_response
    except TraceError:
        return text_of(outputs)


def text_of(value: Any) -> str:
    """Return a value as text: a text as it is, anything else as JSON."""
    from trajgrade.jsontext import dumps

    return value if isinstance(value, str) else dumps(value).decode()


def field_of(inputs: Any, *names: str) -> Any:
    """Return the first of several fields that the inputs have; the inputs where they are no object.

    Args:
        inputs: What the agent was asked.
        names: The fields.
    """
    if not isinstance(inputs, Mapping):
        return inputs
    return next((inputs[name] for name in names if inputs.get(name) is not None), None)
