#!/usr/bin/env bash
# Packages: responses 0.26.3, requests 2.34.2 (Python 3.11)
# A good guess: of two answers for one address, a general one and one for a certain user, the request of that
# user gets its own, and all others the general one; or always the first that fits.
# What happens: where both fit, one of the two is taken away: registered after the general one, ben's own
# answer is given to ben, and from then on the general one is gone and all others are refused a connection.
# Registered before it, ben's own is given once, and after that he is anybody.
# Output seen on 2026-11-29:
#   anybody then ben: ann gets the answer for anybody
#   anybody then ben: ben gets the answer for ben
#   anybody then ben: ben gets the answer for ben
#   anybody then ben: ann gets ConnectionError
#   ben then anybody: ann gets the answer for anybody
#   ben then anybody: ben gets the answer for ben
#   ben then anybody: ben gets the answer for anybody
#   ben then anybody: ann gets the answer for anybody

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check responses==0.26.3 requests==2.34.2

cat > program.py <<'PY'
import requests
import responses
from responses.matchers import json_params_matcher

ask = {"anybody": {}, "ben": {"match": [json_params_matcher({"user": "ben"})]}}
for order in (("anybody", "ben"), ("ben", "anybody")):
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        for whose in order:
            mock.post("http://memory.test/ask", json={"for": whose}, **ask[whose])
        for user in ("ann", "ben", "ben", "ann"):
            try:
                got = f"the answer for {requests.post('http://memory.test/ask', json={'user': user}).json()['for']}"
            except requests.ConnectionError:
                got = "ConnectionError"
            print(f"{' then '.join(order)}: {user} gets {got}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
anybody then ben: ann gets the answer for anybody
anybody then ben: ben gets the answer for ben
anybody then ben: ben gets the answer for ben
anybody then ben: ann gets ConnectionError
ben then anybody: ann gets the answer for anybody
ben then anybody: ben gets the answer for ben
ben then anybody: ben gets the answer for anybody
ben then anybody: ann gets the answer for anybody
END
)
[ "$seen" = "$expected" ]
