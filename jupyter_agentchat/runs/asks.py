"""Checks a person's answer against the ask."""

from __future__ import annotations

from ..errors import AgentChatError, AlreadyResolved, BadRequest, NotFound
from ..protocol.events import Ask, AskResolved
from ..protocol.resources import AskAnswer, Author
from ..protocol.words import Permission, stricter
from ..store.base import EventStore


def within(ask: Ask, maximum: Permission) -> Ask:
    """`ask` without the options that lead above the admin's `maximum`."""
    options = [
        o for o in ask.options if not o.leads_to or stricter(o.leads_to, maximum) == o.leads_to
    ]
    return ask if options == ask.options else ask.model_copy(update={"options": options})


def check_answer(ask: Ask, answer: AskAnswer) -> AskAnswer:
    """`answer` with its option filled in. Raises BadRequest when it does not fit the ask."""
    if ask.kind == "question":
        return _check_question(ask, answer)
    if answer.decision == "answered":
        raise BadRequest("This ask takes allow or deny.", kind=ask.kind)
    if answer.answers is not None:
        raise BadRequest("Only a question takes answers.", kind=ask.kind)
    fitting = [option for option in ask.options if option.decision == answer.decision]
    if answer.option_id is None:
        # what was not named is the narrowest: once
        narrow = next((o for o in fitting if o.scope == "once"), None)
        chosen = narrow or (fitting[0] if fitting else None)
        return answer.model_copy(update={"option_id": chosen.id if chosen else None})
    if all(option.id != answer.option_id for option in fitting):
        raise BadRequest(
            "The ask has no such option for this decision.",
            option_id=answer.option_id,
            options=[option.id for option in ask.options],
        )
    return answer


def _check_question(ask: Ask, answer: AskAnswer) -> AskAnswer:
    if answer.decision == "deny":
        return answer
    if answer.decision != "answered" or answer.answers is None:
        raise BadRequest("A question takes decision answered with answers, or deny.")
    known = {question.id: question for question in ask.questions}
    for question_id, value in answer.answers.items():
        question = known.get(question_id)
        if question is None:
            raise BadRequest("The form has no such question.", question_id=question_id)
        labels = {option.label for option in question.options}
        values = value if isinstance(value, list) else [value]
        if not question.multi_select and len(values) > 1:
            raise BadRequest("Only one choice is possible.", question_id=question_id)
        if not question.allow_other and any(item not in labels for item in values):
            raise BadRequest("That is not one of the choices.", question_id=question_id)
    missing = [question_id for question_id in known if question_id not in answer.answers]
    if missing:
        raise BadRequest("Some questions are not answered.", missing=missing)
    return answer


def resolution(ask: Ask, answer: AskAnswer, author: Author) -> AskResolved:
    """The event for an answer; secret answers are stored as null."""
    secret = {question.id for question in ask.questions if question.secret}
    answers: dict[str, list[str] | str | None] | None = None
    if answer.answers is not None:
        answers = {
            question_id: None if question_id in secret else value
            for question_id, value in answer.answers.items()
        }
    return AskResolved(
        ask_id=ask.ask_id,
        decision=answer.decision,
        option_id=answer.option_id,
        answers=answers,
        message=answer.message,
        by=author,
    )


def closed_ask(store: EventStore, chat_id: str, ask_id: str) -> AgentChatError:
    """Why an ask that is not open takes no answer: AlreadyResolved with what won, or NotFound."""
    for event in reversed(store.events_before(chat_id, None, limit=2000).events):
        if event.type != "ask_resolved":
            continue
        body = event.body()
        if isinstance(body, AskResolved) and body.ask_id == ask_id:
            return AlreadyResolved("This was resolved before.", answer=body.model_dump(mode="json"))
    return NotFound("There is no such question in this chat.", ask_id=ask_id)
