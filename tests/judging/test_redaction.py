"""What must not leave the machine is taken out of a text before a judge is asked."""

from __future__ import annotations

import asyncio

import pytest

from trajgrade.errors import ConfigError, JudgeError
from trajgrade.judges.scripted import ScriptedJudge
from trajgrade.judging.asking import asked
from trajgrade.judging.guarded import GuardedJudge
from trajgrade.judging.prompt import Prompt
from trajgrade.judging.redaction import Redaction
from trajgrade.judging.rendering import rendered
from trajgrade.judging.settings import judge_settings
from trajgrade.judging.spec import VerdictSpec
from trajgrade.trajectory import Trajectory

ALL = Redaction(("email", "phone", "key"))


def made_up(head: str, length: int = 30) -> str:
    """A key that nobody has, put together here so that no scanner finds it in this file."""
    return head + ("aB3dE5fG7h" * 9)[:length]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ann.lee+x@mail.example.org", "email"), ("ann@example.co.uk", "email"),
        ("+49 170 1234567", "phone"), ("(030) 123 45 67", "phone"), ("+4917012345678", "phone"),
        ("555-123-4567", "phone"), (made_up("sk" + "-"), "key"), (made_up("sk" + "-proj-"), "key"),
        ("AKIA" + "ABCDEFGHIJKLMNOP", "key"), (made_up("gh" + "p_", 36), "key"), (made_up("h" + "f_"), "key"),
        (made_up("xox" + "b-"), "key"), (made_up("AI" + "za", 35), "key"),
        (".".join((made_up("eyJ"), made_up(""), made_up(""))), "key"),
    ],
)  # fmt: skip
def test_what_is_known_is_replaced_by_its_kind(text: str, kind: str):
    assert ALL(f"before {text}, after") == f"before [{kind}], after"


def test_a_value_after_the_name_of_a_secret_is_replaced():
    assert ALL('{"api_key": "abc123def", "n": 1}') == '{"api_key": "[key]", "n": 1}'
    assert ALL("password=hunter22 next") == "password=[key] next"
    assert ALL("Authorization: Bearer abcdefghijklmnop") == "Authorization: Bearer [key]"
    block = "-----BEGIN " + "PRIVATE KEY-----\nMIIabc\n-----END " + "PRIVATE KEY-----"
    assert ALL(f"a {block} b") == "a [key] b"
    assert ALL(f"a {block[:40]}") == "a [key]"


@pytest.mark.parametrize(
    "text",
    [
        "The 3 flights cost 120.50",
        "2026-12",
        "2026-12-01",
        "2026-12-01T10:20:30",
        "1234567.89",
        "$1,234,567.00",
        "version 1.2",
        "order 12345",
        "a@b",
        "user@",
        "10:30",
    ],
)
def test_what_is_none_of_these_stays(text: str):
    assert ALL(text) == text


def test_own_patterns_and_hooks_run_first():
    own = Redaction(("email",), {"ticket": r"T-\d+"}, (str.upper,))
    assert own("see t-12 of a@b.example") == "SEE [ticket] OF [email]"


def test_a_pattern_that_takes_too_long_stops_the_text(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("trajgrade.judging.redaction.SECONDS", 0.05)
    with pytest.raises(JudgeError, match=r"redact: slow: .* nothing was sent"):
        Redaction(patterns={"slow": r"((?:x+x+)+)y"})("x" * 3000)


def test_what_is_no_pattern_or_kind_is_refused():
    with pytest.raises(ConfigError, match=r"redact: unknown kind 'emial'. Did you mean 'email'"):
        Redaction(("emial",))
    with pytest.raises(ConfigError, match="redact: x: no regular expression"):
        Redaction(patterns={"x": "("})
    with pytest.raises(JudgeError, match="must return a text"):
        Redaction(hooks=(lambda text: 3,))("a")  # type: ignore[arg-type,return-value]


def test_a_judge_is_sent_no_secret_of_the_row_nor_of_the_one_who_grades():
    settings = judge_settings({"script": "x", "redact": ["email"], "cache": False})
    assert settings is not None
    inner = ScriptedJudge('{"reasoning": "", "pass": true}')
    judge = GuardedJudge(inner, settings)
    prompt = Prompt(
        "{given}{outputs}", {"outputs": "ask ann@example.org"}, {"given": "bob@example.org"}
    )
    asyncio.run(asked(judge, prompt, VerdictSpec.boolean()))
    said = " ".join(turn.text for turn in inner.asked[0].turns)
    assert "ann@" not in said
    assert "bob@" not in said
    assert "ask [email]" in said


def test_a_text_is_redacted_before_it_is_cut():
    address = "ann.lee@mail.example.org"
    for at in range(20):
        text = "x" * (300 + at) + address + "y" * 4000
        shown = rendered(
            Trajectory.from_any([{"role": "assistant", "content": text}]), budget=150, redact=ALL
        ).text
        assert "ann" not in shown
        assert "lee@" not in shown
