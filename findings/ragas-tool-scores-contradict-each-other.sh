#!/usr/bin/env bash
# Packages: ragas 0.4.3, langchain-community 0.3.31 (Python 3.11)
# A good guess: ToolCallAccuracy and ToolCallF1 give 1 where no call was expected and none was made, and both
# mark down a call with an argument too many and a call that is made twice.
# What happens: the two have opposite views of each: no call is 1.0 and 0.0, an argument too many or a 2 as
# text 1.0 and 0.0, the same call twice 0.0 and 1.0. A call with the wrong city has half of the accuracy. So a
# bot that asks before it books is perfect or worthless by the choice of the metric. (langchain-community is
# pinned because ragas does not import beside 0.4.2, which its requirements allow.)
# Output seen on 2026-11-29:
#   the call: accuracy 1.0, F1 1.0
#   no call: accuracy 1.0, F1 0.0
#   the wrong city: accuracy 0.5, F1 0.0
#   an argument too many: accuracy 1.0, F1 0.0
#   2 as text: accuracy 1.0, F1 0.0
#   twice: accuracy 0.0, F1 1.0

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check ragas==0.4.3 langchain-community==0.3.31

cat > program.py <<'PY'
import asyncio
import warnings

warnings.simplefilter("ignore")
from ragas.dataset_schema import MultiTurnSample
from ragas.messages import AIMessage, HumanMessage, ToolCall
from ragas.metrics import ToolCallAccuracy, ToolCallF1


def book(**args):
    return ToolCall(name="book", args=args)


def score(metric, made, expected):
    dialogue = [HumanMessage(content="A table, please."), AIMessage(content="Yes.", tool_calls=made)]
    sample = MultiTurnSample(user_input=dialogue, reference_tool_calls=expected)
    return asyncio.run(metric.multi_turn_ascore(sample))


wanted = [book(city="Rome", guests=2)]
cases = {
    "the call": (wanted, wanted),
    "no call": ([], []),
    "the wrong city": ([book(city="Oslo", guests=2)], wanted),
    "an argument too many": ([book(city="Rome", guests=2, smoking=True)], wanted),
    "2 as text": ([book(city="Rome", guests="2")], wanted),
    "twice": (wanted * 2, wanted),
}
for name, (made, expected) in cases.items():
    print(f"{name}: accuracy {score(ToolCallAccuracy(), made, expected):.1f}, F1 {score(ToolCallF1(), made, expected):.1f}")
PY

seen=$(venv/bin/python program.py 2>/dev/null)
printf '%s\n' "$seen"
expected=$(cat <<'END'
the call: accuracy 1.0, F1 1.0
no call: accuracy 1.0, F1 0.0
the wrong city: accuracy 0.5, F1 0.0
an argument too many: accuracy 1.0, F1 0.0
2 as text: accuracy 1.0, F1 0.0
twice: accuracy 0.0, F1 1.0
END
)
[ "$seen" = "$expected" ]
