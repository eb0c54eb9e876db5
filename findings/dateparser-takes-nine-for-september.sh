#!/usr/bin/env bash
# Packages: dateparser 1.5.0 (Python 3.11)
# A good guess: "monday at nine" is nine o'clock on a Monday, as "monday at 9am" is, or nothing (None) if
# words for hours are not known.
# What happens: the nine is read as the month: 25 September, without a time, and the Monday is lost. "at 7" is
# July, and "tomorrow 7" is tomorrow at the present time. No result is None, so a check for None sees nothing.
# Output seen on 2026-11-28:
#   monday 9am: 2026-11-23 09:00:00
#   monday at nine: 2026-09-25 00:00:00
#   at 7pm: 2026-11-25 19:00:00
#   at 7: 2026-07-25 00:00:00
#   tomorrow 7pm: 2026-11-26 19:00:00
#   tomorrow 7: 2026-11-26 10:00:00

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check dateparser==1.5.0

cat > program.py <<'PY'
from datetime import datetime

import dateparser

wednesday = {"RELATIVE_BASE": datetime(2026, 11, 25, 10, 0)}
for words in ("monday 9am", "monday at nine", "at 7pm", "at 7", "tomorrow 7pm", "tomorrow 7"):
    print(f"{words}: {dateparser.parse(words, languages=['en'], settings=wednesday)}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
monday 9am: 2026-11-23 09:00:00
monday at nine: 2026-09-25 00:00:00
at 7pm: 2026-11-25 19:00:00
at 7: 2026-07-25 00:00:00
tomorrow 7pm: 2026-11-26 19:00:00
tomorrow 7: 2026-11-26 10:00:00
END
)
[ "$seen" = "$expected" ]
