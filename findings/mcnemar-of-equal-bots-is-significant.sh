#!/usr/bin/env bash
# Packages: statsmodels 0.15.0 (Python 3.11)
# A good guess: two bots that agree on each of ten items do not differ: the test of McNemar gives p = 1, or
# nan where it cannot be computed.
# What happens: with exact=False (the chi-squared form) the statistic is (0 - 1) squared by 0, infinite, and p
# is 0.0: the strongest difference that there can be. Only a RuntimeWarning about a division is given. The
# exact form gives 1.0.
# Output seen on 2026-11-28:
#   exact=True: statistic 0.0, p 1.0, 0 warnings
#   exact=False: statistic inf, p 0.0, 1 warnings

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check statsmodels==0.15.0

cat > program.py <<'PY'
import warnings

from statsmodels.stats.contingency_tables import mcnemar

both_right, both_wrong = 5, 5
for exact in (True, False):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = mcnemar([[both_right, 0], [0, both_wrong]], exact=exact)
    print(f"exact={exact}: statistic {float(result.statistic)}, p {float(result.pvalue)}, {len(caught)} warnings")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
exact=True: statistic 0.0, p 1.0, 0 warnings
exact=False: statistic inf, p 0.0, 1 warnings
END
)
[ "$seen" = "$expected" ]
