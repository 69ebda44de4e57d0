"""Vertex AI's names: a script written for its SDK runs after its import line is changed.

eval_task     EvalTask: dataset and metrics in, EvalResult out
metrics       the metrics, as objects and by name
columns       which column is which, and what is said where one is missing
answering     what answers the prompts
judged        what a model judges, as records
pictures      which means are drawn (`trajgrade.report.charts` draws them)
"""

from trajgrade.evaluation import metrics, notebook_utils
from trajgrade.evaluation.custom import CustomMetric
from trajgrade.evaluation.eval_result import EvalResult
from trajgrade.evaluation.eval_task import EvalTask
from trajgrade.evaluation.judged import AutoraterConfig, PairwiseMetric, PointwiseMetric
from trajgrade.evaluation.metric_prompt_template import (
    MetricPromptTemplateExamples,
    PairwiseMetricPromptTemplate,
    PointwiseMetricPromptTemplate,
)
from trajgrade.evaluation.metrics import Rouge, TrajectorySingleToolUse
from trajgrade.evaluation.prompt_template import PromptTemplate

__all__ = [
    "AutoraterConfig",
    "CustomMetric",
    "EvalResult",
    "EvalTask",
    "MetricPromptTemplateExamples",
    "PairwiseMetric",
    "PairwiseMetricPromptTemplate",
    "PointwiseMetric",
    "PointwiseMetricPromptTemplate",
    "PromptTemplate",
    "Rouge",
    "TrajectorySingleToolUse",
    "metrics",
    "notebook_utils",
]
