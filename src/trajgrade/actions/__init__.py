"""Actions: what a rule does with an item that fits. A name is imported only when a rule has it.

addresses     where a webhook may go
"""

from trajgrade.registry import Entry

BUILTINS: dict[str, Entry] = {
    "emit_otel": Entry(
        "trajgrade.actions.emit_otel:EmitOtel", "send the scores to an OpenTelemetry collector"
    ),
    "fire_webhook": Entry(
        "trajgrade.actions.fire_webhook:FireWebhook", "POST the item to a URL, signed"
    ),
    "notify": Entry("trajgrade.actions.notify:Notify", "write a line to the log"),
}
