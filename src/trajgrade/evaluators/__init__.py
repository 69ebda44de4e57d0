"""Evaluators: outputs, reference → EvaluationResult. Potato's names are exported here."""

from trajgrade.evaluators.agent_as_judge import AgentAsJudgeEvaluator
from trajgrade.evaluators.bleu import Bleu
from trajgrade.evaluators.chrf import Chrf
from trajgrade.evaluators.constraints import TrajectoryConstraints
from trajgrade.evaluators.contains import Contains
from trajgrade.evaluators.edits import EditDistance
from trajgrade.evaluators.embedding import EmbeddingDistance
from trajgrade.evaluators.evaluator import Evaluator
from trajgrade.evaluators.exact import ExactMatch
from trajgrade.evaluators.final_response import FinalResponseMatch, FinalResponseQuality
from trajgrade.evaluators.json_schema import JSONSchemaMatch
from trajgrade.evaluators.json_text import JSONValid
from trajgrade.evaluators.llm_trajectory_judge import LLMTrajectoryJudge
from trajgrade.evaluators.naming import (
    build_evaluator,
    get_supported_evaluators,
    list_evaluators,
    register_evaluator,
)
from trajgrade.evaluators.pattern import RegexMatch
from trajgrade.evaluators.precision_recall import (
    ToolCallAccuracyEvaluator,
    TrajectoryF1,
    TrajectoryPrecision,
    TrajectoryRecall,
)
from trajgrade.evaluators.rag_triad import (
    AnswerRelevanceEvaluator,
    ContextRelevanceEvaluator,
    GroundednessEvaluator,
    rag_triad,
)
from trajgrade.evaluators.rouge import Rouge, Rouge1, Rouge2, RougeL, RougeLSum
from trajgrade.evaluators.rubric import Rubric
from trajgrade.evaluators.rubric_dag import RUBRIC_PRESETS, RubricDagEvaluator, make_rubric_dag
from trajgrade.evaluators.stored import Stored
from trajgrade.evaluators.tool_call_json import (
    ToolCallValid,
    ToolNameMatch,
    ToolParameterKeyMatch,
    ToolParameterKVMatch,
)
from trajgrade.evaluators.tool_call_quality import ToolCallQuality
from trajgrade.evaluators.tool_use import ToolUseEvaluator, TrajectorySingleToolUse
from trajgrade.evaluators.trajectory_alignment import TrajectoryAlignment
from trajgrade.evaluators.trajectory_match import (
    GraphTrajectoryMatch,
    TrajectoryAnyOrderMatch,
    TrajectoryExactMatch,
    TrajectoryInOrderMatch,
    TrajectoryMatchEvaluator,
)
from trajgrade.registry import Entry
from trajgrade.result import EvaluationResult
from trajgrade.trajectory import Step, ToolCall, extract_tool_calls, normalize_trajectory

BUILTINS: dict[str, Entry] = {
    "agent_as_judge": Entry(
        "trajgrade.evaluators.agent_as_judge:AgentAsJudge",
        "A judge says which requirements the trajectory satisfies, with evidence",
    ),
    "answer_relevance": Entry(
        "trajgrade.evaluators.rag_triad:AnswerRelevance",
        "A judge rates how well the answer addresses the question",
    ),
    "bleu": Entry(
        "trajgrade.evaluators.bleu:Bleu",
        "Runs of up to four words that the response has from the reference",
    ),
    "chrf": Entry(
        "trajgrade.evaluators.chrf:Chrf",
        "Runs of up to six letters that response and reference share",
    ),
    "context_relevance": Entry(
        "trajgrade.evaluators.rag_triad:ContextRelevance",
        "A judge rates how relevant the retrieved context is to the question",
    ),
    "contains": Entry(
        "trajgrade.evaluators.contains:Contains",
        "A text, or any, all or none of several, stands in the response",
    ),
    "edit_distance": Entry(
        "trajgrade.evaluators.edits:EditDistance",
        "Similarity by edits of code points: 1 - distance / length",
    ),
    "embedding_distance": Entry(
        "trajgrade.evaluators.embedding:EmbeddingDistance",
        "The same as embedding_similarity",
        alias_of="embedding_similarity",
    ),
    "embedding_similarity": Entry(
        "trajgrade.evaluators.embedding:EmbeddingDistance",
        "Cosine of the embeddings of response and reference, clipped to 0..1",
    ),
    "exact_match": Entry(
        "trajgrade.evaluators.exact:ExactMatch",
        "The response equals the reference, as text or as JSON",
    ),
    "field": Entry(
        "trajgrade.evaluators.stored:Stored",
        "A number or flag that the row holds already",
    ),
    "final_response_match": Entry(
        "trajgrade.evaluators.final_response:FinalResponseMatch",
        "A judge says whether the response says the same as the reference",
    ),
    "final_response_quality": Entry(
        "trajgrade.evaluators.final_response:FinalResponseQuality",
        "A judge rates the response, from 1 to 5",
    ),
    "groundedness": Entry(
        "trajgrade.evaluators.rag_triad:Groundedness",
        "The share of the answer's claims that the context supports, by a judge",
    ),
    "graph_trajectory_match": Entry(
        "trajgrade.evaluators.trajectory_match:GraphTrajectoryMatch",
        "The nodes of a LangGraph thread match the reference's, run by run, in any of the modes",
    ),
    "json_schema_match": Entry(
        "trajgrade.evaluators.json_schema:JSONSchemaMatch",
        "The response satisfies a JSON Schema",
    ),
    "json_valid": Entry(
        "trajgrade.evaluators.json_text:JSONValid",
        "The response is JSON (RFC 8259)",
    ),
    "llm_trajectory_judge": Entry(
        "trajgrade.evaluators.llm_trajectory_judge:LLMTrajectoryJudge",
        "A judge says how well the agent went about its task",
    ),
    "pairwise_coherence": Entry(
        "trajgrade.evaluators.pairwise:PairwiseCoherence",
        "A judge says which of two responses is better: coherence",
    ),
    "pairwise_fluency": Entry(
        "trajgrade.evaluators.pairwise:PairwiseFluency",
        "A judge says which of two responses is better: fluency",
    ),
    "pairwise_groundedness": Entry(
        "trajgrade.evaluators.pairwise:PairwiseGroundedness",
        "A judge says which of two responses is better: groundedness",
    ),
    "pairwise_instruction_following": Entry(
        "trajgrade.evaluators.pairwise:PairwiseInstructionFollowing",
        "A judge says which of two responses is better: instruction following",
    ),
    "pairwise_multi_turn_chat_quality": Entry(
        "trajgrade.evaluators.pairwise:PairwiseMultiTurnChatQuality",
        "A judge says which of two responses is better: multi turn chat quality",
    ),
    "pairwise_multi_turn_safety": Entry(
        "trajgrade.evaluators.pairwise:PairwiseMultiTurnSafety",
        "A judge says which of two responses is better: multi turn safety",
    ),
    "pairwise_question_answering_quality": Entry(
        "trajgrade.evaluators.pairwise:PairwiseQuestionAnsweringQuality",
        "A judge says which of two responses is better: question answering quality",
    ),
    "pairwise_safety": Entry(
        "trajgrade.evaluators.pairwise:PairwiseSafety",
        "A judge says which of two responses is better: safety",
    ),
    "pairwise_summarization_quality": Entry(
        "trajgrade.evaluators.pairwise:PairwiseSummarizationQuality",
        "A judge says which of two responses is better: summarization quality",
    ),
    "pairwise_text_quality": Entry(
        "trajgrade.evaluators.pairwise:PairwiseTextQuality",
        "A judge says which of two responses is better: text quality",
    ),
    "pairwise_verbosity": Entry(
        "trajgrade.evaluators.pairwise:PairwiseVerbosity",
        "A judge says which of two responses is better: verbosity",
    ),
    "pointwise_coherence": Entry(
        "trajgrade.evaluators.pointwise:PointwiseCoherence",
        "A judge rates the response by a rubric of ours: coherence",
    ),
    "pointwise_fluency": Entry(
        "trajgrade.evaluators.pointwise:PointwiseFluency",
        "A judge rates the response by a rubric of ours: fluency",
    ),
    "pointwise_groundedness": Entry(
        "trajgrade.evaluators.pointwise:PointwiseGroundedness",
        "A judge rates the response by a rubric of ours: groundedness",
    ),
    "pointwise_instruction_following": Entry(
        "trajgrade.evaluators.pointwise:PointwiseInstructionFollowing",
        "A judge rates the response by a rubric of ours: instruction following",
    ),
    "pointwise_multi_turn_chat_quality": Entry(
        "trajgrade.evaluators.pointwise:PointwiseMultiTurnChatQuality",
        "A judge rates the response by a rubric of ours: multi turn chat quality",
    ),
    "pointwise_multi_turn_safety": Entry(
        "trajgrade.evaluators.pointwise:PointwiseMultiTurnSafety",
        "A judge rates the response by a rubric of ours: multi turn safety",
    ),
    "pointwise_question_answering_quality": Entry(
        "trajgrade.evaluators.pointwise:PointwiseQuestionAnsweringQuality",
        "A judge rates the response by a rubric of ours: question answering quality",
    ),
    "pointwise_safety": Entry(
        "trajgrade.evaluators.pointwise:PointwiseSafety",
        "A judge rates the response by a rubric of ours: safety",
    ),
    "pointwise_summarization_quality": Entry(
        "trajgrade.evaluators.pointwise:PointwiseSummarizationQuality",
        "A judge rates the response by a rubric of ours: summarization quality",
    ),
    "pointwise_text_quality": Entry(
        "trajgrade.evaluators.pointwise:PointwiseTextQuality",
        "A judge rates the response by a rubric of ours: text quality",
    ),
    "pointwise_verbosity": Entry(
        "trajgrade.evaluators.pointwise:PointwiseVerbosity",
        "A judge rates the response by a rubric of ours: verbosity",
    ),
    "regex_match": Entry(
        "trajgrade.evaluators.pattern:RegexMatch",
        "A regular expression matches the response",
    ),
    "rouge": Entry(
        "trajgrade.evaluators.rouge:Rouge",
        "Words, runs of words or subsequences that response and reference share",
    ),
    "rouge_1": Entry(
        "trajgrade.evaluators.rouge:Rouge1",
        "Words that response and reference share",
    ),
    "rouge_2": Entry(
        "trajgrade.evaluators.rouge:Rouge2",
        "Pairs of neighbouring words that response and reference share",
    ),
    "rouge_l": Entry(
        "trajgrade.evaluators.rouge:RougeL",
        "The longest common subsequence of the words of response and reference",
    ),
    "rouge_l_sum": Entry(
        "trajgrade.evaluators.rouge:RougeLSum",
        "The longest common subsequences of words, sentence by sentence",
    ),
    "rubric": Entry(
        "trajgrade.evaluators.rubric:Rubric",
        "The weight of the criteria that a judge finds met",
    ),
    "rubric_dag": Entry(
        "trajgrade.evaluators.rubric_dag:RubricDag",
        "A decision tree that a judge walks to a score that you wrote",
    ),
    "tool_call_accuracy": Entry(
        "trajgrade.evaluators.precision_recall:ToolCallAccuracyEvaluator",
        "Share of the reference's calls that were made; none without reference calls",
    ),
    "tool_call_quality": Entry(
        "trajgrade.evaluators.tool_call_quality:ToolCallQuality",
        "The share of calls of the right tool with grounded arguments, by a judge",
    ),
    "tool_call_valid": Entry(
        "trajgrade.evaluators.tool_call_json:ToolCallValid",
        "The response writes its tool calls as well-formed JSON",
    ),
    "tool_name_match": Entry(
        "trajgrade.evaluators.tool_call_json:ToolNameMatch",
        "The calls that the response writes name the reference's tools, one by one",
    ),
    "tool_parameter_key_match": Entry(
        "trajgrade.evaluators.tool_call_json:ToolParameterKeyMatch",
        "Share of the arguments that written calls and the reference's both have",
    ),
    "tool_parameter_kv_match": Entry(
        "trajgrade.evaluators.tool_call_json:ToolParameterKVMatch",
        "Share of the arguments that both have with equal values",
    ),
    "tool_use": Entry(
        "trajgrade.evaluators.tool_use:ToolUseEvaluator",
        "A certain tool was called, also with certain arguments or a number of times",
    ),
    "trajectory_alignment": Entry(
        "trajgrade.evaluators.trajectory_alignment:TrajectoryAlignment",
        "Partial credit for calls and arguments of the best alignment",
    ),
    "trajectory_any_order_match": Entry(
        "trajgrade.evaluators.trajectory_match:TrajectoryAnyOrderMatch",
        "All of the reference's calls, in any order, extras allowed",
    ),
    "trajectory_constraints": Entry(
        "trajgrade.evaluators.constraints:TrajectoryConstraints",
        "Tools required, forbidden, in order, one of several, so often; the violated are named",
    ),
    "trajectory_exact_match": Entry(
        "trajgrade.evaluators.trajectory_match:TrajectoryExactMatch",
        "Exactly the reference's calls, in order",
    ),
    "trajectory_f1": Entry(
        "trajgrade.evaluators.precision_recall:TrajectoryF1",
        "Harmonic mean of trajectory precision and recall",
    ),
    "trajectory_in_order_match": Entry(
        "trajgrade.evaluators.trajectory_match:TrajectoryInOrderMatch",
        "The reference's calls in order, extras allowed",
    ),
    "trajectory_match": Entry(
        "trajgrade.evaluators.trajectory_match:TrajectoryMatchEvaluator",
        "The calls match the reference's: strict, unordered, subset, superset, in_order",
    ),
    "trajectory_precision": Entry(
        "trajgrade.evaluators.precision_recall:TrajectoryPrecision",
        "Share of the agent's calls that the reference accounts for",
    ),
    "trajectory_recall": Entry(
        "trajgrade.evaluators.precision_recall:TrajectoryRecall",
        "Share of the reference's calls that the agent made",
    ),
    "trajectory_single_tool_use": Entry(
        "trajgrade.evaluators.tool_use:TrajectorySingleToolUse",
        "A certain tool was called at least once",
    ),
}

__all__ = [
    "RUBRIC_PRESETS",
    "AgentAsJudgeEvaluator",
    "AnswerRelevanceEvaluator",
    "Bleu",
    "Chrf",
    "Contains",
    "ContextRelevanceEvaluator",
    "EditDistance",
    "EmbeddingDistance",
    "EvaluationResult",
    "Evaluator",
    "ExactMatch",
    "FinalResponseMatch",
    "FinalResponseQuality",
    "GraphTrajectoryMatch",
    "GroundednessEvaluator",
    "JSONSchemaMatch",
    "JSONValid",
    "LLMTrajectoryJudge",
    "RegexMatch",
    "Rouge",
    "Rouge1",
    "Rouge2",
    "RougeL",
    "RougeLSum",
    "Rubric",
    "RubricDagEvaluator",
    "Step",
    "Stored",
    "ToolCall",
    "ToolCallAccuracyEvaluator",
    "ToolCallQuality",
    "ToolCallValid",
    "ToolNameMatch",
    "ToolParameterKVMatch",
    "ToolParameterKeyMatch",
    "ToolUseEvaluator",
    "TrajectoryAlignment",
    "TrajectoryAnyOrderMatch",
    "TrajectoryConstraints",
    "TrajectoryExactMatch",
    "TrajectoryF1",
    "TrajectoryInOrderMatch",
    "TrajectoryMatchEvaluator",
    "TrajectoryPrecision",
    "TrajectoryRecall",
    "TrajectorySingleToolUse",
    "build_evaluator",
    "extract_tool_calls",
    "get_supported_evaluators",
    "list_evaluators",
    "make_rubric_dag",
    "normalize_trajectory",
    "rag_triad",
    "register_evaluator",
]
