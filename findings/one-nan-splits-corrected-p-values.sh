#!/usr/bin/env bash
# Packages: statsmodels 0.15.0, scipy 1.17.1 (Python 3.11)
# A good guess: where one of four metrics has no p value (two bots with equal scores: the t-test gives nan),
# multipletests refuses the nan, or corrects the other three.
# What happens: it corrects for four, and its two answers disagree: with fdr_bh each corrected p is nan, so
# `corrected < 0.05` finds no difference, while `reject` finds two of the three. With hommel both find none,
# with holm the count of four takes two of three away. There is no warning. scipy's false_discovery_control
# refuses the nan.
# Output seen on 2026-11-29:
#   p 0.001 0.020 0.040
#     fdr_bh: rejected 3, corrected below 0.05 3, nan 0
#     hommel: rejected 3, corrected below 0.05 3, nan 0
#     holm: rejected 3, corrected below 0.05 3, nan 0
#     scipy: corrected below 0.05 3
#   p 0.001 0.020 0.040 nan
#     fdr_bh: rejected 2, corrected below 0.05 0, nan 4
#     hommel: rejected 0, corrected below 0.05 0, nan 4
#     holm: rejected 1, corrected below 0.05 1, nan 1
#     scipy: refused

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check statsmodels==0.15.0 scipy==1.17.1

cat > program.py <<'PY'
import numpy as np
from scipy.stats import false_discovery_control, ttest_rel
from statsmodels.stats.multitest import multipletests

equal = ttest_rel([3, 4, 5], [3, 4, 5]).pvalue
for ps in ([0.001, 0.02, 0.04], [0.001, 0.02, 0.04, equal]):
    print("p", *(f"{p:.3f}" for p in ps))
    for method in ("fdr_bh", "hommel", "holm"):
        reject, corrected, *_ = multipletests(ps, method=method)
        print(f"  {method}: rejected {sum(reject)}, corrected below 0.05 {sum(corrected < 0.05)}, nan {sum(np.isnan(corrected))}")
    try:
        print("  scipy: corrected below 0.05", sum(false_discovery_control(ps) < 0.05))
    except ValueError:
        print("  scipy: refused")
PY

seen=$(venv/bin/python -W ignore program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
p 0.001 0.020 0.040
  fdr_bh: rejected 3, corrected below 0.05 3, nan 0
  hommel: rejected 3, corrected below 0.05 3, nan 0
  holm: rejected 3, corrected below 0.05 3, nan 0
  scipy: corrected below 0.05 3
p 0.001 0.020 0.040 nan
  fdr_bh: rejected 2, corrected below 0.05 0, nan 4
  hommel: rejected 0, corrected below 0.05 0, nan 4
  holm: rejected 1, corrected below 0.05 1, nan 1
  scipy: refused
END
)
[ "$seen" = "$expected" ]
