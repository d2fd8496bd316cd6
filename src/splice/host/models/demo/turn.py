"""What the demo model says next: the first step of the task that is not done yet, or the answer when all are."""

import re
from collections.abc import Sequence
from datetime import date
from typing import Any, NamedTuple

from splice.host.models.demo import answers, commands, discovery, grammar
from splice.host.models.demo.actions import ASK_USER, Action, Actions
from splice.host.models.demo.facts import Facts
from splice.host.models.demo.fields import Field
from splice.host.models.demo.retrieval import ENOUGH, Shelf
from splice.host.models.demo.slots import Arguments
from splice.host.models.demo.steps import Step, steps_of
from splice.host.models.demo.talk import Done, Talk

MAX_AT_ONCE = 12

_THANKS = re.compile(r"(?:thanks?|thank you|cheers)\b.{0,40}$", re.IGNORECASE)


class Call(NamedTuple):
    """A tool to be used."""

    key: str
    name: str
    arguments: Arguments


class Reply(NamedTuple):
    """What the model says, and what it uses."""

    text: str
    calls: list[Call]


class Turn:
    """One answer of the model."""

    def __init__(self, talk: Talk, shelf: Shelf, today: date, offered: Sequence[str] | None = None) -> None:
        self.talk = talk
        self.shelf = shelf
        self.facts = Facts(talk, today)
        self.actions = Actions(talk, shelf, self.facts, today)
        self.today = today
        self.notes: list[str] = []
        self.offered = offered
        """The tools that can be called directly, where others have to be found first."""

    def reply(self) -> Reply:
        """Decide what comes next."""
        made = self._decide()
        if self.offered is None:
            return made
        return made._replace(calls=[Call(*discovery.through(each, self.offered)) for each in made.calls])

    def _decide(self) -> Reply:
        if self.talk.word == "no":
            return Reply("All right, I stop here. Nothing more is done.", [])
        if self.offered is not None and (calls := self._lookups()):
            return Reply("", calls)
        found = commands.next_reply(self.talk, self.shelf, self.actions)
        if found is not None:
            return Reply(found[0], [Call(*each) for each in found[1]])
        steps = steps_of(self.talk.task, self.actions.differs)
        if self.offered is not None and (calls := self._searches(steps)):
            return self._say("I look for the tools.", calls[:MAX_AT_ONCE])
        planned = [(step, self.actions.of(step)) for step in steps]
        if not any(actions for _, actions in planned):
            return Reply(self._unknown(), [])
        return self._walk(planned)

    def _lookups(self) -> list[Call]:
        """Look at the tools that commands name, where they are not known yet."""
        found = [
            each for each in grammar.parse(self.talk.task) if each.verb == "call" and not self.shelf.called(each.name)
        ]
        keys = {each.key for each in self.talk.done}
        calls = [
            Call(f"describe-{place}", discovery.DESCRIBE, {"name": re.sub(r"[./:]", "__", each.name, count=1)})
            for place, each in enumerate(found)
        ]
        return [each for each in calls if each.key not in keys]

    def _searches(self, steps: list[Step]) -> list[Call]:
        """Look for tools for the clauses that none of the known ones fits."""
        known = list(self.shelf.tools)
        clauses = [
            (f"{step.number}-{place}", each.text)
            for step in steps
            for place, each in enumerate(step.clauses)
            if each.kind == "call" and self.actions.hit(each) is None
        ]
        return [Call(*each) for key, text in clauses for each in discovery.next_calls(self.talk, key, text, known)]

    def _walk(self, planned: list[tuple[Step, list[Action]]]) -> Reply:
        """Go through the steps up to the first that needs something."""
        is_chain = len(planned) > 1 or len(planned[0][1]) > 1
        for step, actions in planned:
            if failed := self._failed(actions):
                return self._stop(failed, planned)
            opened = [each for each in actions if self.talk.outcome(each.key) is None]
            calls, lacking = self._prepared(opened, is_chain=is_chain)
            if calls:
                begins = f"Step {step.number} of {len(planned)}: {step.text}" if len(planned) > 1 else ""
                return self._say(begins, calls[:MAX_AT_ONCE])
            if lacking and self._lost():
                return self._stop(None, planned)
            if lacking and (asked := self._ask(step, lacking)):
                return asked
            if step.waits and not self.talk.was_told(_mark(step)):
                return self._say(self._plan(step), [])
        return self._say(self._summary(planned, is_chain=is_chain), [])

    def _prepared(self, actions: list[Action], *, is_chain: bool) -> tuple[list[Call], list[Field]]:
        """Divide what is open into calls that can be made, and fields that the user is asked for."""
        calls: list[Call] = []
        lacking: dict[str, Field] = {}
        for action in actions:
            arguments, missing = self.actions.ready(action, is_chain=is_chain)
            if missing:
                lacking |= {each.name: each for each in missing}
            else:
                calls.append(Call(action.key, action.tool.name, arguments))
        return calls, list(lacking.values())

    def _ask(self, step: Step, lacking: list[Field]) -> Reply | None:
        """Ask the user for what is missing, once for each step; without the host's tool for that, in words."""
        key = f"ask-{step.number}"
        asked = next((each for each in self.talk.done if each.key == key and each.at > self.talk.last_said_at), None)
        names = ", ".join(f"“{each.name}”" for each in lacking)
        if asked is not None:
            self.notes.append(f"- “{answers.cell(step.text)}” is left out, as nobody told me {names}.")
            return None
        if ASK_USER not in self.shelf.tools:
            return self._say(f"I do not know {names}. Please say it, for example: {lacking[0].name}=…", [])
        schema = {
            "type": "object",
            "properties": {each.name: _asked_as(each) for each in lacking},
            "required": [each.name for each in lacking],
        }
        message = f"For “{answers.cell(step.text, 120)}” I need {names}."
        return self._say("", [Call(key, ASK_USER, {"message": message, "schema": schema})])

    def _failed(self, actions: list[Action]) -> Done | None:
        """Find a change that did not come about: what follows may rest on it."""
        for action in actions:
            done = self.talk.outcome(action.key) if action.changes else None
            if done is not None and not done.is_ok:
                return done
        return None

    def _lost(self) -> bool:
        """Tell whether a call failed since the user spoke: what is missing might have been its result."""
        return any(each.key and each.at > self.talk.last_said_at and not each.is_ok for each in self.talk.done)

    def _stop(self, failed: Done | None, planned: list[tuple[Step, list[Action]]]) -> Reply:
        left = [step.text for step, actions in planned for each in actions if self.talk.outcome(each.key) is None]
        rest = "".join(f"\n- {answers.cell(text, 120)}" for text in dict.fromkeys(left))
        after = f"\n\nI stop here. This is not done:{rest}\n\nSay “go on” and I try again." if rest else ""
        return self._say(after.strip() or "Say “try again” if you want that.", [], always=failed)

    def _plan(self, step: Step) -> str:
        """Tell the options that were chosen, and what they cost together."""
        lines, total = ["This is the plan:", ""], 0.0
        if not any(answers.cost(done) is not None for done in self.facts.done):
            if all(done.is_ok for done in self.talk.done):  # it was no journey, and nothing went wrong
                return _mark(step)
            return "There is no plan: nothing was found that could be booked. Say “go on” and I try again."
        for done in self.facts.done:
            price = answers.cost(done)
            if price is not None:
                why = answers.reason(done.value)
                lines.append(f"- {answers.option_line(done.value)}: ${price:,.2f}{f' ({why})' if why else ''}")
                total += price
        if self.facts.start:
            lines.insert(1, f"\n{self.facts.place}, {self.facts.start} to {self.facts.end or self.facts.start}.")
        fresh = self.talk.fresh()
        failed = [each for each in self.talk.done if each.key and not each.is_ok and each.at > self.talk.last_said_at]
        lines += [answers.failure(each) for each in failed if each not in fresh]
        lines += ["", f"Total: ${total:,.2f}", "", _mark(step)]
        return "\n".join(lines)

    def _summary(self, planned: list[tuple[Step, list[Action]]], *, is_chain: bool) -> str:
        if not is_chain:
            return "\n".join(self.notes) or ("" if self.talk.fresh() else "That is done.")
        lines = ["All steps are done:", ""] if not self.notes else ["Done, as far as it went:", ""]
        for step, actions in planned:
            outcomes = [done for each in actions if (done := self.talk.outcome(each.key))]
            lines += [answers.brief(each) for each in outcomes]
            if not actions and all(each.kind == "call" for each in step.clauses) and step.clauses:
                lines.append(f"- I found no tool for “{answers.cell(step.text)}”.")
        return "\n".join([*lines, *self.notes])

    def _say(self, text: str, calls: list[Call], always: Done | None = None) -> Reply:
        """Put what came of the last calls before what comes next."""
        fresh = [each for each in self.talk.fresh() if each.key and not each.key.startswith("ask-")]
        told = [always] if always is not None and always not in fresh else []
        is_last = not calls and not text
        shown = [answers.full(each) if is_last else answers.brief(each) for each in [*told, *fresh]]
        if text.startswith(("All steps", "Done, ")):
            shown = []
        return Reply("\n\n".join(each for each in ["\n".join(shown), text] if each), calls)

    def _unknown(self) -> str:
        """Say that no tool fits, and which were considered."""
        hits = self.shelf.search(self.talk.task, self.today)[:3]
        if self.talk.fresh():
            return "\n".join(answers.full(each) for each in self.talk.fresh())
        if _THANKS.match(self.talk.task.strip()):
            return "You are welcome. Say “help” to see what I can do."
        if not hits:
            return "No tool here fits that. I am a demo without AI: I match words. Say “help” to see what I can do."
        lines = [f"- {each.tool.name} ({each.score:.2f})" for each in hits]
        return "\n".join(
            [
                f"I am not sure enough which tool you mean (below {ENOUGH:.2f}). I considered:",
                "",
                *lines,
                "",
                f"Name one, for example: call {hits[0].tool.name.replace('__', '.')} …",
            ]
        )


def _mark(step: Step) -> str:
    """Write the question that a step waits with; an agreement counts only after it."""
    return f"Shall I go on after step {step.number}? Say yes or no."


def _asked_as(field: Field) -> dict[str, Any]:
    """Write a field for a form: what a form may have of it."""
    kinds = {"integer": "integer", "number": "number", "boolean": "boolean"}
    asked: dict[str, Any] = {"type": kinds.get(field.kind, "string")}
    asked |= {name: field.schema[name] for name in ("title", "description") if isinstance(field.schema.get(name), str)}
    if field.kind == "enum" and all(isinstance(each, str) for each in field.choices):
        asked["enum"] = list(field.choices)
    form = {"date": "date", "email": "email", "url": "uri"}.get(field.kind)
    return asked | {"format": form} if form else asked
