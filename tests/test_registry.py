"""Names: what exists, what a plugin adds, and what a wrong name is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import trajgrade
from trajgrade import evaluators
from trajgrade.errors import ConfigError, ParameterError, TrajgradeError, UnknownNameError
from trajgrade.evaluators import (
    build_evaluator,
    get_supported_evaluators,
    list_evaluators,
    register_evaluator,
)
from trajgrade.registry import Registry

POTATO = {
    "trajectory_match", "tool_use", "tool_call_accuracy", "exact_match", "contains", "regex_match",
    "edit_distance", "json_valid", "json_schema_match", "embedding_similarity",
}  # fmt: skip
VERTEX = {
    "trajectory_exact_match", "trajectory_in_order_match", "trajectory_any_order_match",
    "trajectory_precision", "trajectory_recall", "trajectory_single_tool_use",
}  # fmt: skip


def test_the_names_of_both_seeds_exist():
    names = set(get_supported_evaluators())
    assert names >= POTATO | VERTEX | {"trajectory_f1", "trajectory_alignment", "field"}
    assert get_supported_evaluators() == sorted(names)


def test_the_list_describes_each_in_a_line():
    described = list_evaluators()
    assert [entry["name"] for entry in described] == get_supported_evaluators()
    assert all(entry["description"] and "\n" not in entry["description"] for entry in described)


def test_an_alias_builds_the_same_and_is_not_listed():
    alias = build_evaluator("embedding_distance", {"embed_fn": len})
    assert alias == build_evaluator("embedding_similarity", {"embed_fn": len})
    assert "embedding_distance" not in get_supported_evaluators()


def test_an_unknown_name_is_a_key_error_that_lists_what_exists():
    with pytest.raises(KeyError, match="Did you mean 'trajectory_match'") as caught:
        build_evaluator("trajectory_macth")
    assert isinstance(caught.value, UnknownNameError)
    assert "tool_call_accuracy" in str(caught.value)


@pytest.mark.parametrize("name", [None, 5, ["a"], ""])
def test_a_name_that_is_no_text_is_unknown_too(name):
    with pytest.raises(UnknownNameError):
        build_evaluator(name)


def test_an_unknown_parameter_is_a_type_error_that_lists_what_exists():
    with pytest.raises(TypeError, match="Did you mean 'mode'") as caught:
        build_evaluator("trajectory_match", {"mod": "strict"})
    assert isinstance(caught.value, ParameterError)


def test_a_missing_parameter_is_named():
    with pytest.raises(TypeError, match="'expected_tool' is required"):
        build_evaluator("tool_use")


def test_a_registered_evaluator_is_built_by_name_and_a_name_is_taken_once():
    class Own:
        key = "own"

        def __init__(self, level: int = 1) -> None:
            self.level = level

        def evaluate(self, **example):
            return {"score": self.level}

    class Other(Own):
        pass

    register_evaluator("own_for_this_test", Own, "what it does")
    assert build_evaluator("own_for_this_test", {"level": 3}).level == 3  # type: ignore[attr-defined]
    register_evaluator("own_for_this_test", Own, "what it does")
    with pytest.raises(ConfigError, match="is registered already"):
        register_evaluator("own_for_this_test", Other)
    with pytest.raises(ConfigError, match="is registered already"):
        register_evaluator("trajectory_match", Own)


def test_a_plugin_of_an_installed_package_is_found(tmp_path: Path):
    (tmp_path / "plug.py").write_text(
        "class Polite:\n"
        "    key = 'polite'\n"
        "    def evaluate(self, *, outputs=None, **extra):\n"
        "        return {'score': float('please' in str(outputs))}\n"
    )
    info = tmp_path / "plug-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plug\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[trajgrade.evaluators]\npolite = plug:Polite\n")
    script = (
        "import trajgrade\n"
        "run = trajgrade.evaluate([{'id': 'a', 'outputs': 'yes please'}], ['polite'])\n"
        "print(run.summary['polite'].mean)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.stdout.strip(), done.returncode) == ("1.0", 0), done.stderr


def test_a_broken_plugin_is_harmless_until_it_is_named():
    registry = Registry("evaluator", "evaluators")
    registry.register("broken", "no.such.module:Thing")
    assert "broken" in list(registry)
    with pytest.raises(ModuleNotFoundError):
        registry.find("broken")


def test_the_public_names():
    assert trajgrade.__all__ == sorted(trajgrade.__all__)
    assert set(trajgrade.__all__) == {
        "Agent", "CanonicalTrace", "Dataset", "EvaluationResult", "Run", "Step", "ToolCall", "Trajectory",
        "TrajgradeError", "__version__", "compare", "evaluate", "list_samples", "load_sample", "read_steps", "read_traces",
    }  # fmt: skip
    for name in trajgrade.__all__:
        assert getattr(trajgrade, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'grade'"):
        trajgrade.grade  # noqa: B018


def test_what_potato_exports_is_exported():
    for name in (
        "Evaluator", "EvaluationResult", "Step", "ToolCall", "normalize_trajectory",
        "extract_tool_calls", "TrajectoryMatchEvaluator", "ToolUseEvaluator",
        "ToolCallAccuracyEvaluator", "ExactMatch", "Contains", "RegexMatch", "EditDistance",
        "JSONValid", "JSONSchemaMatch", "EmbeddingDistance", "build_evaluator",
        "register_evaluator", "list_evaluators", "get_supported_evaluators",
    ):  # fmt: skip
        assert name in evaluators.__all__
        assert getattr(evaluators, name)


def test_every_error_has_one_root():
    from trajgrade import errors

    found = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, Exception)]
    assert len(found) > 8
    assert all(issubclass(error, TrajgradeError) for error in found)
    drawn = errors.__doc__ or ""
    assert all(error.__name__ in drawn for error in found)
