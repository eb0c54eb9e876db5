#!/usr/bin/env bash
# Packages: irrCAC 0.4.4, krippendorff 0.9.0 (Python 3.11)
# A good guess: both packages give Krippendorff's alpha, so over the same ratings, with the level or the
# weights called "ordinal", they give the same number, as they do for nominal and interval.
# What happens: they differ by 0.03. krippendorff measures the distance of two scores by how many ratings
# lie between them; irrCAC takes the ordinal weights of Gwet, which look at the positions of the scores
# alone. A threshold of 0.70 passes with one and fails with the other.
# Output seen on 2026-11-29:
#   nominal: irrCAC 0.39, krippendorff 0.39
#   interval: irrCAC 0.75, krippendorff 0.75
#   ordinal: irrCAC 0.71, krippendorff 0.68

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check irrCAC==0.4.4 krippendorff==0.9.0

cat > program.py <<'PY'
import krippendorff
import numpy as np
import pandas as pd
from irrCAC.raw import CAC

ratings = [[1, 1], [2, 2], [3, 4], [4, 4], [4, 3], [4, 4], [2, 4], [4, 4], [1, 2], [4, 4]]
frame, matrix = pd.DataFrame(ratings, columns=["ann", "bo"]), np.array(ratings).T
for weights, level in (("identity", "nominal"), ("quadratic", "interval"), ("ordinal", "ordinal")):
    one = CAC(frame, weights=weights).krippendorff()["est"]["coefficient_value"]
    two = krippendorff.alpha(matrix, level_of_measurement=level)
    print(f"{level}: irrCAC {one:.2f}, krippendorff {two:.2f}")
PY

seen=$(venv/bin/python -W ignore program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
nominal: irrCAC 0.39, krippendorff 0.39
interval: irrCAC 0.75, krippendorff 0.75
ordinal: irrCAC 0.71, krippendorff 0.68
END
)
[ "$seen" = "$expected" ]
