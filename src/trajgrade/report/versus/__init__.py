"""Two runs, compared, laid out for people and programs; files by their suffix.

told          what every report for people says of two runs, compared
calls         the calls of one example in both runs, side by side
screen        on the screen
rows          one line for each example, with its scores in both runs
page, markdown, junit, whole, sheet, columnar
              files, by their suffix
"""

from trajgrade.registry import Entry

BUILTINS: dict[str, Entry] = {
    ".csv": Entry("trajgrade.report.versus.sheet:write", "one line for each example"),
    ".html": Entry("trajgrade.report.versus.page:write", "one page, to be read without a network"),
    ".json": Entry("trajgrade.report.versus.whole:write", "all of it, with what changed"),
    ".md": Entry("trajgrade.report.versus.markdown:write", "for a pull request's comment"),
    ".parquet": Entry("trajgrade.report.versus.columnar:write", "the columns of .csv"),
    ".xml": Entry("trajgrade.report.versus.junit:write", "JUnit's XML, for build servers"),
}
