"""Items from files of the official prompt makers, whose requests are used byte for byte."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.files.jsonfile import CHANGED, read_at, read_object
from pytest_personalens.core.scenario import ScenarioRef
from pytest_personalens.suites.personaconv.posts import text_field
from pytest_personalens.suites.personaconv.predictions import (
    UNKNOWN_DOMAIN,
    ExcludedPost,
    Plan,
    Request,
    digest_of,
    stratum_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

#: The words in a file's name that give its setting. The first match counts; without one it is P-Conv.
_NAMED: Final = (("rand", "NP-Conv"), ("without", "P-NonConv"), ("", "P-Conv"))
#: A score beyond it is no number that the scripts can take.
_MOST: Final = 1e300


class _Row(NamedTuple):
    """A row without its request, which is read at `place`; `target` is empty for next text."""

    place: tuple[Path, int, int]
    number: int
    user: str
    target: str
    label: str | float
    domain: str
    kind: str


class PromptFiles:
    """The rows of prompt files, one item for each.

    Each file has one kind and one setting, which its name gives unless it is the only file. Rows of scores
    are paired by their targets, and rows of next text by line, user and label. Raise `DataError` for a file
    that is no prompt file, for two files of one kind and setting, or if no row makes an item, and `SpecError`
    for a setting without a file.
    """

    def __init__(
        self, files: Sequence[Path], name: str, *, kinds: Sequence[str], settings: Sequence[str]
    ) -> None:
        read: dict[tuple[str, str], _File] = {}
        for path in files:
            file = _File(path, settings[0] if len(files) == 1 else "")
            first = read.setdefault((file.kind, file.setting), file)
            if first is not file:
                same = f"holds prompts of {file.kind} in {file.setting}, as {first.path} does"
                raise DataError(path, f"{same}; leave one out, or join their rows in one file", code="PL203")
        self.digest = hashlib.sha256("".join(file.digest for file in read.values()).encode()).hexdigest()
        self.plan = Plan([kind for kind in kinds if any(kind in key for key in read)], ())
        self._name, self._settings, self._items = name, settings, list[dict[str, _Row]]()
        for kind in self.plan.items:
            self._pair(kind, {file.setting: file for file in read.values() if file.kind == kind})
        if not self._items:
            raise DataError(name, f"no row makes an item: {self.plan.excluded_text}")

    def load(self, ref: ScenarioRef, place: int) -> tuple[str | float, dict[str, Request], dict[str, Any]]:
        """Return the truth and the requests by setting. Raise `DataError` for a file that has changed."""
        rows, leaks = self._items[place], ("sign",) if ref.kind == "impact" else ()
        requests: dict[str, Request] = {}
        for setting, row in rows.items():
            text, _ = _fields(read_at(*row.place))
            if not isinstance(text, str):
                raise DataError(row.place[0], CHANGED)
            requests[setting] = Request(parts=(("request", text),), leaks=leaks)
        return rows[self._settings[0]].label, requests, {}

    def _pair(self, kind: str, files: dict[str, _File]) -> None:
        for setting in self._settings:
            if setting not in files:
                raise SpecError(
                    f"{self._name}: no prompt file of {kind} in {setting}; make it, leave {setting} out, or"
                    f" leave {kind} out of the kinds",
                    code="PL204",
                )
        if kind == "next-text" and "NP-Conv" in self._settings and len(self._settings) > 1:
            raise SpecError(
                f"{self._name}: the official NP-Conv of next text is of other posts and no control of these;"
                " leave next-text out of the kinds",
                code="PL108",
            )
        main, *controls = self._settings
        self.plan.left_out[kind] += files[main].left_out
        for key, row in files[main].rows.items():
            found = {setting: files[setting].rows.get(key) for setting in controls}
            paired = {setting: each for setting, each in found.items() if each and each.label == row.label}
            if len(paired) < len(controls):
                self.plan.left_out[kind].append(ExcludedPost(row.user, row.number, "not-paired"))
                continue
            task, stratum = f"{kind}-{digest_of(*key)}", stratum_of(kind, str(row.label))
            self.plan.add_item(ScenarioRef(row.user, task, kind, (row.domain,), stratum), len(self._items))
            self._items.append({main: row, **paired})


class _File:
    """The rows of a file, of one kind and setting, by the key that pairs them with those of other files."""

    def __init__(self, path: Path, setting: str = "") -> None:
        self.path, self.left_out = path, list[ExcludedPost]()
        self.rows: dict[tuple[object, ...], _Row] = {}
        digest, end = hashlib.sha256(), 0
        try:
            with path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    digest.update(line)
                    start, end = end, end + len(line)
                    if line.strip() and (reason := self._add(_row(line, (path, start, len(line)), number))):
                        self.left_out.append(ExcludedPost("", number, reason))
        except OSError as error:
            raise DataError(path, f"cannot be read: {error.strerror}", code="PL201") from None
        kinds = sorted({row.kind for row in self.rows.values()})
        if len(kinds) != 1:
            several = f"rows of {' and '.join(kinds)}; put each kind into a file of its own"
            raise DataError(path, several if kinds else "no row that the official prompt makers would write")
        self.kind, self.digest = kinds[0], digest.hexdigest()
        self.setting = setting or next(named for word, named in _NAMED if word in path.name.lower())

    def _add(self, row: _Row | None) -> str:
        """Add a row, or return why it gives no item."""
        if row is None:
            return "bad-row"
        key = (row.target,) if row.target else (len(self.rows), row.user, row.label)
        return "" if self.rows.setdefault(key, row) is row else "duplicate"


def _row(line: bytes, place: tuple[Path, int, int], number: int) -> _Row | None:
    """Return the row in a line, or None if it has not the fields of one."""
    data = read_object(line) or {}
    text, fields = _fields(data)
    label: Any = fields.get("true_label")
    domain = text_field(fields, "subreddit") or UNKNOWN_DOMAIN
    if not isinstance(text, str):
        return None
    if fields is data:
        user = str(data.get("user") or "unknown")
        return _Row(place, number, user, "", label, domain, "next-text") if isinstance(label, str) else None
    # One of the official prompt makers puts a prefix before its ids.
    target = str(fields.get("target_reply_id") or "").removeprefix("task_")
    known = abs(label) <= _MOST if isinstance(label, int | float) else label in ("positive", "negative")
    if not target or not known:
        return None
    store, post = data.get("post_data_store"), str(fields.get("target_post_reference_id") or "")
    tree = store.get(post) if isinstance(store, dict) else None
    author = text_field(tree, "author") if isinstance(tree, dict) else ""
    user = author or post.partition("p")[0] or "unknown"
    value, kind = (label, "sentiment") if isinstance(label, str) else (float(label or 0), "impact")
    return _Row(place, number, user, target, value, domain, kind)


def _fields(data: dict[str, Any]) -> tuple[object, dict[str, Any]]:
    """Return the request of a row, and the object that holds it with the truth."""
    task = data.get("prediction_task")
    return (task.get("prompt_text"), task) if isinstance(task, dict) else (data.get("prompt"), data)
