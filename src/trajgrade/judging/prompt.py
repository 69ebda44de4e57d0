"""Prompt: a template of ours, and what is put into it: trusted text as it is, the rest fenced.

A name in braces, `{outputs}`, is a place. All places are filled at once, so that what is put into
one is never read as a place. What must be judged and has no place stands after the template.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from trajgrade.contracts import JudgeRequest, JudgeTurn
from trajgrade.errors import ConfigError, unknown
from trajgrade.judging.fence import declaration, delimiter, fenced, visible
from trajgrade.judging.spec import VerdictSpec

_PLACE = re.compile(r"(?<!\{)\{([A-Za-z_]\w*)\}(?!\})")
ROLE = "You assess what an AI agent did. Judge by the criteria that you are given and nothing else."


@dataclass(frozen=True)
class Prompt:
    """What a judge is asked.

    Attributes:
        template: The prompt, with places in braces.
        data: What was written by others, by the name of its place: it is fenced.
        given: What the one who grades wrote, by the name of its place: it is put in as it is.
        system: Who the judge is.
    """

    template: str
    data: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, str] = field(default_factory=dict)
    system: str = ROLE

    def __post_init__(self) -> None:
        """Check that every place is filled.

        Raises:
            ConfigError: A place has no content, or content is both trusted and not.
        """
        known = [*self.data, *self.given]
        faults = [
            f"prompt: {unknown('place', name, known)}"
            for name in places(self.template)
            if name not in known
        ]
        faults += [
            f"prompt: {name} is both data and given" for name in {*self.data} & {*self.given}
        ]
        if faults:
            raise ConfigError(*faults)

    @property
    def hash(self) -> str:
        """What identifies template and system text, whatever is put in: 12 hexadecimal digits."""
        return _hash(self.template, self.system)

    def redacted(self, redact: Callable[[str], str]) -> Prompt:
        """Return the prompt, with everything put into it redacted."""
        return replace(
            self,
            data={name: redact(text) for name, text in self.data.items()},
            given={name: redact(text) for name, text in self.given.items()},
        )

    def request(self, spec: VerdictSpec, *, sample: int = 0) -> JudgeRequest:
        """Return the prompt as a request, with a delimiter of its own."""
        data = {name: visible(text) for name, text in self.data.items()}
        mark = delimiter([*data.values(), *self.given.values(), self.template, self.system])
        parts = [self.template, self.system, data, dict(self.given), spec.instructions, spec.schema]
        return JudgeRequest(
            turns=self._turns(data, mark, spec),
            schema=spec.schema,
            identity=hashed(parts, 64),
            sample=sample,
        )

    def _turns(
        self, data: Mapping[str, str], mark: str, spec: VerdictSpec
    ) -> tuple[JudgeTurn, ...]:
        blocks = {name: fenced(name, text, mark) for name, text in data.items()}

        def filled(place: re.Match[str]) -> str:
            if place[1] not in blocks:
                return self.given[place[1]]
            before, after = self.template[: place.start()], self.template[place.end() :]
            begin = "" if not before or before.endswith("\n") else "\n"
            end = "" if not after or after.startswith("\n") else "\n"
            return f"{begin}{blocks[place[1]]}{end}"

        asked = _PLACE.sub(filled, self.template)
        placed = places(self.template)
        more = [blocks[name] for name in data if name not in placed]
        system = "\n\n".join([self.system, declaration(mark), spec.instructions])
        return (
            JudgeTurn("system", system),
            JudgeTurn("user", "\n\n".join([asked.strip(), *more])),
        )


@lru_cache(256)
def places(template: str) -> tuple[str, ...]:
    """Return the names of a template's places, each once."""
    return tuple(dict.fromkeys(_PLACE.findall(template)))


@lru_cache(256)
def _hash(template: str, system: str) -> str:
    return hashed([template, system])


def hashed(value: Any, digits: int = 12) -> str:
    """Return what identifies a JSON value, in up to 64 hexadecimal digits."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()[:digits]
