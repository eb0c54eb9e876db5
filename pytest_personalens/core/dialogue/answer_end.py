"""Why an answer of a model ended, from the word of any service, and how a cut one is told."""

from __future__ import annotations

from typing import Final, Literal

#: "end": the model had said all. "tool": it called a tool. "length": a limit of tokens cut it off. "refusal":
#: the model would not answer. "filter": a filter of the provider stopped it. "error": it is malformed, or its
#: stream broke off.
End = Literal["end", "length", "refusal", "filter", "error", "tool"]
#: The words of OpenAI, Azure, Mistral, DeepSeek, vLLM, Gemini, Anthropic, Ollama and Bedrock. Any other word
#: is "end".
_ENDS: Final[dict[str, End]] = {
    **dict.fromkeys(("tool_calls", "tool_use", "tool_call", "function_call"), "tool"),
    **dict.fromkeys(
        ("length", "max_tokens", "model_length", "max_output_tokens", "model_context_window_exceeded"),
        "length",
    ),
    "refusal": "refusal",
    **dict.fromkeys(
        (
            *("content_filter", "content_filtered", "guardrail_intervened", "content-filter", "safety"),
            *("recitation", "blocklist", "prohibited_content", "spii", "sensitive"),
        ),
        "filter",
    ),
    **dict.fromkeys(
        (
            *("error", "abort", "cancelled", "failed", "broken_off", "insufficient_system_resource"),
            *("malformed_model_output", "malformed_tool_use", "malformed_function_call"),
        ),
        "error",
    ),
}
#: Our word for a stream that stops without saying that it is at its end.
BROKEN_OFF: Final = "broken_off"
_WINDOW: Final = "model_context_window_exceeded"


def end_of(word: object) -> End:
    """Return why an answer ended, from a service's own word for it, in any case.

    >>> end_of("MAX_TOKENS")
    'length'
    """
    return _ENDS.get(str(word).lower(), "end")


def cut_text(end: End, word: str, tokens: int) -> str:
    """Return how an answer was cut or spoilt, such as "cut off at 4,000 tokens"; empty if it is whole.

    `word` is the service's own word, `tokens` the limit if it is known.
    """
    if end == "length" and word.lower() == _WINDOW:
        return "cut off: the model's context window is full"
    if end == "length":
        return f"cut off at {tokens:,} tokens" if tokens else "cut off at the limit of tokens"
    if end == "filter":
        return f"stopped by a content filter ({word})"
    if end == "error" and word == BROKEN_OFF:
        return "broken off: its stream stopped without an end"
    return f"spoilt by an error of the model ({word})" if end == "error" else ""
