"""The user samples of the benchmark, as numbers of users (official code, ``src/*.py``)."""

from __future__ import annotations

from itertools import accumulate
from typing import Final

#: The users of each sample that the smaller ones do not have.
_NUMBERS: Final = {
    "official-20": (
        66, 132, 139, 207, 230, 340, 386, 389, 415, 428, 597, 746, 774, 854, 900, 1111, 1197, 1231, 1322,
        1458,
    ),
    "official-30": (
        7, 251, 313, 376, 788, 822, 1142, 1150, 1492, 1495,
    ),
    "official-50": (
        53, 107, 167, 195, 418, 439, 517, 532, 630, 641, 660, 674, 701, 802, 1145, 1335, 1362, 1377, 1439,
        1493,
    ),
    "official-100": (
        21, 86, 157, 166, 168, 248, 312, 352, 363, 365, 394, 431, 470, 482, 619, 657, 659, 664, 686, 689,
        744, 745, 813, 838, 840, 842, 847, 857, 870, 878, 880, 913, 928, 942, 954, 997, 1069, 1114, 1118,
        1120, 1151, 1167, 1184, 1246, 1330, 1345, 1384, 1434, 1461, 1496,
    ),
}  # fmt: skip

#: The ids of the users by the name of the sample. The experiments of the paper use fifty users (section 4.1).
OFFICIAL_SAMPLES: Final = {
    name: tuple(f"user{number}" for number in sorted(numbers))
    for name, numbers in zip(_NUMBERS, accumulate(_NUMBERS.values()), strict=True)
}
