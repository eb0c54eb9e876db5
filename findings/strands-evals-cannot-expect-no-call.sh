#!/usr/bin/env bash
# Packages: strands-agents-evals 1.7.0 strands-agents 1.62.0 (Python 3.11)
# A good guess: where no tool call is expected, the three scorers of trajectories give 1 for none, and less
# for a call.
# What happens: the exact scorer divides by the number of expected calls, and so raises; the other two give
# 1.0 whatever was called. A case that says 'only ask, book nothing' is an error by one and passes by the
# others, with the table booked.
# Output seen on 2026-11-29:
#   exact_match_scorer, made [], expected []: ZeroDivisionError: division by zero
#   in_order_match_scorer, made [], expected []: 1.0
#   any_order_match_scorer, made [], expected []: 1.0
#   exact_match_scorer, made ['book_table'], expected []: ZeroDivisionError: division by zero
#   in_order_match_scorer, made ['book_table'], expected []: 1.0
#   any_order_match_scorer, made ['book_table'], expected []: 1.0

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check strands-agents-evals==1.7.0 strands-agents==1.62.0

cat > program.py <<'PY'
from strands_evals.tools.evaluation_tools import (
    any_order_match_scorer,
    exact_match_scorer,
    in_order_match_scorer,
)

for made in ([], ["book_table"]):
    for scorer in (exact_match_scorer, in_order_match_scorer, any_order_match_scorer):
        try:
            came = scorer(made, [])
        except ZeroDivisionError as error:
            came = f"ZeroDivisionError: {error}"
        print(f"{scorer.tool_name}, made {made}, expected []: {came}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
exact_match_scorer, made [], expected []: ZeroDivisionError: division by zero
in_order_match_scorer, made [], expected []: 1.0
any_order_match_scorer, made [], expected []: 1.0
exact_match_scorer, made ['book_table'], expected []: ZeroDivisionError: division by zero
in_order_match_scorer, made ['book_table'], expected []: 1.0
any_order_match_scorer, made ['book_table'], expected []: 1.0
END
)
[ "$seen" = "$expected" ]
