"""How a turn ends: outcome, usage, cost, and API errors with the next step for a person. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from ....protocol.events import Complete, Error, EventBody, Notice, Usage
from ....protocol.words import ErrorCode
from ..wire import Json, float_of, int_of, object_of, objects_of, text_of, texts_of, true_at

SIGN_IN_HINT: Final = "Run `claude auth login` in a terminal, then send the prompt again."

_NO_RESULT = "The agent stopped without an answer."


class _Cause(NamedTuple):
    code: ErrorCode
    hint: str


_WAIT = "Wait a moment, then send the prompt again."
_CAUSES: Final[dict[str, _Cause]] = {
    "authentication_failed": _Cause("provider_signed_out", SIGN_IN_HINT),
    "billing_error": _Cause("provider_error", "Check the plan and the credit of the account."),
    "rate_limit": _Cause(
        "provider_rate_limited", "Wait until the limit resets, or choose another model."
    ),
    "overloaded": _Cause("provider_overloaded", _WAIT),
    "model_not_found": _Cause("model_not_found", "Choose another model for this chat."),
    "max_output_tokens": _Cause("provider_error", "Ask the agent to go on in smaller steps."),
    "server_error": _Cause("provider_error", _WAIT),
    "prompt_too_long": _Cause(
        "context_overflow", "Send /compact to shorten the conversation, or start a new chat."
    ),
    "image_error": _Cause("provider_error", "Send the prompt without the image, or a smaller one."),
    "connection_failed": _Cause("network", "Check the network and the proxy of the server."),
    "error_max_turns": _Cause("provider_error", "Send another prompt to let the agent go on."),
}
_BY_STATUS: Final = {401: "authentication_failed", 429: "rate_limit", 529: "overloaded"}
_UNKNOWN: Final = _Cause("provider_error", "Send the prompt again, or start a new chat.")
_MESSAGES: Final = {"error_max_turns": "The agent reached its limit of steps for one turn."}


def was_aborted(result: Json) -> bool:
    """Whether somebody stopped the turn: the CLI calls that an error, and sometimes a success."""
    return text_of(result, "terminal_reason").startswith("aborted")


def is_api_error(assistant: Json) -> bool:
    """Whether an `assistant` line is the CLI's own report of a failed call, not an answer."""
    return true_at(assistant, "is_api_error_message") or (
        bool(text_of(assistant, "error"))
        and text_of(object_of(assistant, "message"), "model") == "<synthetic>"
    )


def ending(
    message: Json, api_error: Json, earlier: Sequence[Json] = (), *, stopped: bool = False
) -> list[EventBody]:
    """The bodies that end a run with `message`: a result, or a line that says no more will come.

    `api_error` is the last such `assistant` line, or empty; `earlier` are the results of the turns
    before, of a run that has had more than one. `stopped`: its helpers were stopped, and with them
    the run.
    """
    results = [*earlier]
    if text_of(message, "type") == "result":
        results.append(message)
    usage = _total([usage for usage in map(_usage, results) if usage])
    bodies: list[EventBody] = [usage] if usage else []
    last = results[-1] if results else None
    withdrawn = last is None and text_of(message, "type") == "command_lifecycle"
    if withdrawn or stopped or (last is not None and was_aborted(last)):
        bodies.append(_complete("cancelled", results, usage))
    elif last is not None and true_at(last, "is_error"):
        bodies += [_error(last, api_error), _complete("failed", results, usage)]
    else:
        # `subtype` says success for failed calls too
        bodies.append(_complete("completed", results, usage))
    return bodies


def turn_between(message: Json, api_error: Json) -> list[EventBody]:
    """What a turn leaves that ended with more of its run to come: only a failure is told."""
    if was_aborted(message) or not true_at(message, "is_error"):
        return []
    failed = _error(message, api_error)
    return [Notice(level="error", code=failed.code, text=failed.message)]


def _complete(outcome: str, results: list[Json], usage: Usage | None) -> Complete:
    return Complete.model_validate(
        {
            "outcome": outcome,
            "usage": usage,
            "cost_usd": usage.cost_usd if usage else None,
            "duration_ms": _sum(results, "duration_ms"),
            "num_turns": _sum(results, "num_turns"),
        }
    )


def _total(usages: list[Usage]) -> Usage | None:
    if len(usages) < 2:
        return usages[0] if usages else None
    total: dict[str, float] = {}
    for usage in usages:
        for name, value in usage.model_dump(exclude_none=True).items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                total[name] = round(total.get(name, 0) + value, 9)
    return Usage.model_validate(total)


def _usage(result: Json) -> Usage | None:
    """Tokens and cost of this turn: `modelUsage` and `total_cost_usd` are of the whole session."""
    models = [
        value
        for value in object_of(result, "model_usage_since_last_result").values()
        if isinstance(value, dict)
    ]
    if models:
        costs = [cost for model in models if (cost := float_of(model, "costUSD")) is not None]
        return Usage(
            input_tokens=_sum(models, "inputTokens"),
            output_tokens=_sum(models, "outputTokens"),
            cache_read_tokens=_sum(models, "cacheReadInputTokens"),
            cache_write_tokens=_sum(models, "cacheCreationInputTokens"),
            reasoning_tokens=_sum(models, "thinkingTokens"),
            cost_usd=round(sum(costs), 9) if costs else None,
        )
    usage = object_of(result, "usage")
    if not (int_of(usage, "input_tokens") or int_of(usage, "output_tokens")):
        return None  # no call was made, or none is known of
    return Usage(
        input_tokens=int_of(usage, "input_tokens"),
        output_tokens=int_of(usage, "output_tokens"),
        cache_read_tokens=int_of(usage, "cache_read_input_tokens"),
        cache_write_tokens=int_of(usage, "cache_creation_input_tokens"),
    )


def _sum(models: list[Json], key: str) -> int | None:
    counts = [count for model in models if (count := int_of(model, key)) is not None]
    return sum(counts) if counts else None


def _error(result: Json, api_error: Json) -> Error:
    status = int_of(result, "api_error_status") or int_of(api_error, "api_error_status")
    words = (
        text_of(result, "terminal_reason"),
        text_of(result, "api_error"),
        _BY_STATUS.get(status or 0, ""),
        text_of(api_error, "error"),  # calls an overload a server error
        text_of(result, "subtype"),
    )
    cause = next((_CAUSES[word] for word in words if word in _CAUSES), _UNKNOWN)
    detail: dict[str, int | str] = {"http_status": status} if status else {}
    if kind := text_of(result, "api_error_type") or text_of(api_error, "api_error_type"):
        detail["api_error_type"] = kind
    return Error(
        code=cause.code, message=_message(result, api_error), hint=cause.hint, detail=detail
    )


def _message(result: Json, api_error: Json) -> str:
    said = [text_of(result, "result"), *texts_of(result, "errors")]
    blocks = objects_of(object_of(api_error, "message"), "content")
    said += [text_of(block, "text") for block in blocks]
    said.append(_MESSAGES.get(text_of(result, "subtype"), ""))
    # "[…_diagnostic] …" is for the CLI's makers
    return next((text for text in said if text and not text.startswith("[")), _NO_RESULT)
