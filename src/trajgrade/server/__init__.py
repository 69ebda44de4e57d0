"""Server: traces come in by HTTP, and what is kept and done is shown, as an API and as pages.

app          the application, put together
settings     what may be set, and its limits
serving      the application behind sockets, with its workers, until it is told to stop
gate         what every request must pass, and what every answer bears
guard        who may do what; forms that only our own pages can send
keys         API keys and sessions
cookies      what a browser is to keep for us
limits       how much, how deep, how often
refusal      why a request is refused, as every door of the server says it
documented   what the OpenAPI document says of a route
payload      what a route of the API is sent, as a record
counters     what the server took since it began
ingestion    traces of any format, and Potato's webhook
incoming     a body in any format → a piece for each trace
webhook      what Potato's webhook takes → a piece
otlp         spans, as any OpenTelemetry exporter sends them
spans        spans of one export → one piece for each trace
writing      requests that come at once share one transaction
api/         what is kept and done, as JSON
pages/       the same for people
"""
