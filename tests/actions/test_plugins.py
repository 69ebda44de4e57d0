"""An action of another package, found by its entry point, does its work behind a rule."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from trajgrade import registry
from trajgrade.automation.loading import load_automation
from trajgrade.automation.worker import Worker
from trajgrade.errors import ConfigError
from trajgrade.inbox import Piece
from trajgrade.stores import open_store

MODULE = """
class OpenTicket:
    fast = False
    def __init__(self, project, *, store=None):
        self.project, self.store = project, store
    context = ("store",)
    def act(self, event):
        return f"{self.project}: {event.item_id} in {type(self.store).__name__}"
"""
RULES = """
automation:
  rules:
    - {name: tell, when: always, actions: [{type: open_ticket, project: SHOP}]}
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package on the path, as an installer leaves it there."""
    (tmp_path / "tickets.py").write_text(MODULE)
    marks = tmp_path / "tickets-1.0.dist-info"
    marks.mkdir()
    (marks / "METADATA").write_text("Metadata-Version: 2.1\nName: tickets\nVersion: 1.0\n")
    (marks / "entry_points.txt").write_text(
        "[trajgrade.actions]\nopen_ticket = tickets:OpenTicket\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "actions", registry.Registry("action", "actions"))
    for module in ("trajgrade.automation.loading", "trajgrade.automation.making"):
        monkeypatch.setattr(sys.modules[module], "actions", registry.actions)
    yield tmp_path
    sys.modules.pop("tickets", None)  # fmt: skip


def test_a_plugin_acts_with_what_it_asks_of_the_file(installed: Path):
    config = installed / "rules.yaml"
    config.write_text(RULES)
    assert registry.actions.entries["open_ticket"].description == "from the package tickets"
    with open_store(installed / "kept.db") as store:
        found = load_automation(config)
        store.inbox.accept([Piece(trace_id="t1", key="1", body=b"[]")])
        worker = Worker(store.inbox, found.rules, found.actions(store))
        while worker.step():
            pass
        (outcome,) = store.inbox.outcomes()
        assert (outcome.state, outcome.says) == ("done", f"SHOP: t1 in {type(store).__name__}")


def test_its_parameters_are_checked_when_the_file_is_read(installed: Path):
    config = installed / "rules.yaml"
    config.write_text(RULES.replace("project", "projekt"))
    with pytest.raises(ConfigError, match="Did you mean 'project'"):
        load_automation(config, makes=True)
    config.write_text(RULES.replace("project: SHOP", "project: SHOP, store: x.db"))
    with pytest.raises(ConfigError, match="store: is that of the file"):
        load_automation(config, makes=True)
