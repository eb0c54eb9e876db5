"""Input tokens of a judged single-domain scenario at full price, beside the official pipeline's arithmetic.

Official: 18.1 thousand tokens (tokenizer o200k) for a single-domain dialogue of the paper's length with all
six readings: the user agent 4.74 calls of 1,289, the assistant (Base) 4.74 of 843, and judges of 1,045,
3,064, 953, 952, 986 and 985 tokens. Ours: the real prompts for the same users and tasks, with messages of the
same length, a model in all three roles.

    python benchmarks/agents/tokens.py [PATH OF OFFICIAL DATA]
"""

from __future__ import annotations

import sys
from statistics import mean

import bpe_openai

from pytest_personalens.agents.by_model.model_judge import ModelJudge
from pytest_personalens.agents.by_model.model_speakers import END_SIGNAL, ModelAssistant, ModelUserAgent
from pytest_personalens.agents.by_model.prompts import Prompts
from pytest_personalens.core.judging.evaluation import evaluate
from pytest_personalens.core.judging.verdict import READINGS
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.datasets import draw, open_dataset
from pytest_personalens.models import Answer, Request
from pytest_personalens.models.meter import Meter

OFFICIAL = 18_100
#: Rounds of a single-domain dialogue: 4.74 on average (paper, Table 2), so 4 for 26 % and 5 for 74 % of them.
ROUNDS = {4: 0.26, 5: 0.74}
#: Providers cache from 1,024 tokens on, in steps of 128 (OpenAI's published rule; Bedrock's Claude 3 models
#: have the same minimum).
LEAST, STEP = 1024, 128
ENCODING = bpe_openai.get_encoding("o200k_base")
WORDS = ("then", "it", "was", "set", "for", "you", "and")


class Counter:
    """A model that says messages of the paper's length, and counts what it is sent, as a provider that caches
    would bill it.
    """

    paid = True

    def __init__(self, name: str, rounds: int) -> None:
        self.name, self._rounds, self._calls = name, rounds, 0
        self._seen: list[list[int]] = []
        self.full = self.cached = 0

    def complete(self, request: Request) -> Answer:
        text = "\n".join([request.system, *(t for _, t in request.history), request.prompt])
        tokens = ENCODING.encode(text)
        common = max((_common(tokens, earlier) for earlier in self._seen), default=0)
        hit = common // STEP * STEP if common >= LEAST else 0
        self._seen.append(tokens)
        self.full, self.cached, self._calls = (
            self.full + len(tokens) - hit,
            self.cached + hit,
            self._calls + 1,
        )
        if request.answer is not None:
            score = request.answer["properties"]["score"]
            value = True if score["type"] == "boolean" else 3
            return Answer(
                data={"evidence": [{"turn": 0, "quote": WORDS[0]}], "justification": "so", "score": value}
            )
        size = 40 if self.name == "user" else 110
        words = [str(self._calls), *(WORDS[i % len(WORDS)] for i in range(size - 1))]
        return Answer(
            text=" ".join(words)
            + (f" {END_SIGNAL}" if self.name == "user" and self._calls == self._rounds else "")
        )


def _common(a: list[int], b: list[int]) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def measure(scenario: Scenario, rounds: int) -> dict[str, tuple[int, int]]:
    """Role -> (tokens at full price, tokens from the cache) of one evaluation."""
    roles = {name: Counter(name, rounds) for name in ("user", "assistant", "judge")}
    meter, prompts = Meter(), Prompts()
    evaluation = evaluate(
        scenario,
        ModelAssistant(roles["assistant"], meter, prompts, setting="base", context=scenario.context("")),
        ModelUserAgent(roles["user"], meter, prompts),
        ModelJudge(roles["judge"], meter, prompts),
        dimensions=READINGS,
    )
    assert evaluation.scored, evaluation.detail
    return {name: (role.full, role.cached) for name, role in roles.items()}


def main() -> int:
    """Print the table; 1 if the goal is missed."""
    dataset = open_dataset(sys.argv[1] if len(sys.argv) > 1 else "embedded")
    scenarios = [dataset.load(ref) for ref in draw(dataset, 40, seed="tokens", kind="single").refs]
    total = {"at full price": 0.0, "without a cache": 0.0}
    print(f"{dataset.name}, {len(scenarios)} single-domain scenarios, six readings, mean input tokens of one")
    for role in ("user", "assistant", "judge"):
        full = cached = 0.0
        for rounds, share in ROUNDS.items():
            measured = [measure(s, rounds)[role] for s in scenarios]
            full += share * mean(f for f, _ in measured)
            cached += share * mean(c for _, c in measured)
        total["at full price"] += full
        total["without a cache"] += full + cached
        print(f"  {role:12} {full:8,.0f} at full price, {cached:8,.0f} from the cache")
    for name, tokens in total.items():
        print(f"  {name:16} {tokens:8,.0f}  {tokens / OFFICIAL:.0%} of the official {OFFICIAL:,}")
    return int(total["at full price"] > 0.6 * OFFICIAL)


if __name__ == "__main__":
    sys.exit(main())
