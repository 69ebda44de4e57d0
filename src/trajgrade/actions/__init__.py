"""Actions: what a rule does with an item that fits. A name is imported only when a rule has it.

addresses     where a webhook may go
filling       what is known of a firing, put into a text
references    what was expected of a trace, looked up in a dataset
graded        a trace of production, graded as the rows of experiments are
"""

from trajgrade.registry import Entry

BUILTINS: dict[str, Entry] = {
    "add_to_dataset": Entry(
        "trajgrade.actions.add_to_dataset:AddToDataset", "keep the item as a row of a dataset"
    ),
    "add_to_queue": Entry(
        "trajgrade.actions.add_to_queue:AddToQueue", "have a person look at the item"
    ),
    "emit_otel": Entry(
        "trajgrade.actions.emit_otel:EmitOtel", "send the scores to an OpenTelemetry collector"
    ),
    "fire_webhook": Entry(
        "trajgrade.actions.fire_webhook:FireWebhook", "POST the item to a URL, signed"
    ),
    "notify": Entry("trajgrade.actions.notify:Notify", "write a line to the log"),
    "run_evaluator": Entry(
        "trajgrade.actions.run_evaluator:RunEvaluator", "grade the item, as an experiment would"
    ),
}
