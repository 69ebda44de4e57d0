"""Reports: a Run, laid out for people and programs; files by their suffix.

plain         what came from a trace, made safe to show; numbers, rounded honestly
digest        what every report for people says of a run
saving        files that are whole or not there
terminal      on the screen, through `console`
markup        Markdown's marks
document      one HTML file, and the policy that lets nothing run in it but what is ours
versus/       two runs, compared, laid out
"""

from trajgrade.registry import Entry

BUILTINS: dict[str, Entry] = {
    ".csv": Entry("trajgrade.report.sheet:write", "one line for each row, for spreadsheets"),
    ".json": Entry("trajgrade.report.whole:write", "the whole run: metrics, thresholds, rows"),
    ".jsonl": Entry("trajgrade.report.lines:write", "one line for each row, with the evidence"),
    ".html": Entry("trajgrade.report.page:write", "one page, to be read without a network"),
    ".md": Entry("trajgrade.report.markdown:write", "tables for a pull request's comment"),
    ".parquet": Entry("trajgrade.report.columnar:write", "the columns of .csv, with their types"),
    ".xml": Entry("trajgrade.report.junit:write", "JUnit's XML, for build servers"),
}
