"""trajgrade grades AI agents by their traces: the public names, loaded when they are used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trajgrade.agent import Agent
    from trajgrade.comparison.comparing import compare
    from trajgrade.dataset import Dataset, list_samples, load_sample
    from trajgrade.errors import TrajgradeError
    from trajgrade.result import EvaluationResult
    from trajgrade.run import Run
    from trajgrade.runner import evaluate
    from trajgrade.traces import read_steps, read_traces
    from trajgrade.trajectory import CanonicalTrace, Step, ToolCall, Trajectory

__version__ = "0.1.0"

_HOME = {
    "Agent": "agent",
    "CanonicalTrace": "trajectory",
    "Dataset": "dataset",
    "EvaluationResult": "result",
    "Run": "run",
    "Step": "trajectory",
    "ToolCall": "trajectory",
    "Trajectory": "trajectory",
    "TrajgradeError": "errors",
    "compare": "comparison.comparing",
    "evaluate": "runner",
    "list_samples": "dataset",
    "load_sample": "dataset",
    "read_steps": "traces",
    "read_traces": "traces",
}

__all__ = [
    "Agent",
    "CanonicalTrace",
    "Dataset",
    "EvaluationResult",
    "Run",
    "Step",
    "ToolCall",
    "Trajectory",
    "TrajgradeError",
    "__version__",
    "compare",
    "evaluate",
    "list_samples",
    "load_sample",
    "read_steps",
    "read_traces",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'trajgrade' has no attribute {name!r}")
    return getattr(import_module(f"trajgrade.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
