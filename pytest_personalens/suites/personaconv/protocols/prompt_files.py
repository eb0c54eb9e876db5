"""Files of the official prompt makers as a dataset. Their requests are used byte for byte."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.files.json_stream import CHANGED, read_at, read_object
from pytest_personalens.core.scenario import ScenarioRef
from pytest_personalens.suites.personaconv.data.item_plan import ExcludedPost, Plan, PlannedDataset
from pytest_personalens.suites.personaconv.data.posts import text_field
from pytest_personalens.suites.personaconv.predictions import (
    UNKNOWN_DOMAIN,
    Prediction,
    Request,
    digest_of,
    stratum_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_personalens.suites.personaconv.predictions import Kind, ProtocolName, Setting

#: The prefix of the ids of one of the prompt makers.
_PREFIX: Final = "task_"
#: The words in a file's name that give its setting, as the official prompt makers use them. The first match
#: counts.
_NAMED: Final[tuple[tuple[str, Setting], ...]] = (("rand", "NP-Conv"), ("without", "P-NonConv"))


class _Row(NamedTuple):
    """One row: the place of its line, and all its fields except the request."""

    start: int
    size: int
    number: int
    user: str
    target: str
    label: str | float
    domain: str
    kind: Kind


class _File(NamedTuple):
    path: Path
    kind: Kind
    setting: Setting
    rows: list[_Row]
    left_out: list[ExcludedPost]
    digest: str


class PromptsDataset(PlannedDataset):
    """The rows of prompt files, one item for each; the protocol is official.

    Each file has one kind and one setting. Its name gives the setting ("Without", "Rand", else P-Conv),
    unless it is the only file. Rows of scores are paired by their targets, and rows of next text by line,
    user and label. Raise `DataError` for a file that is no prompt file, and `SpecError` for a setting without
    a file.
    """

    protocol: ProtocolName = "official"

    def __init__(
        self, files: Sequence[Path], *, name: str, kinds: Sequence[Kind], settings: Sequence[Setting]
    ) -> None:
        read = [_read(path) for path in files]
        if len(read) == 1:
            read = [read[0]._replace(setting=settings[0])]
        kinds = [kind for kind in kinds if any(file.kind == kind for file in read)]
        super().__init__(name, Plan(kinds))
        self.version = hashlib.sha256("".join(file.digest for file in read).encode()).hexdigest()[:12]
        self._settings = settings
        self._rows: dict[ScenarioRef, dict[Setting, tuple[Path, _Row]]] = {}
        for kind in kinds:
            self._add(kind, {file.setting: file for file in read if file.kind == kind})
        if not self._rows:
            raise DataError(name, f"no row makes an item: {self._plan.excluded_text}")

    def load(self, ref: ScenarioRef) -> Prediction:
        """Return the whole item. Raise `DataError` for a file that has changed meanwhile."""
        rows = self._rows.get(ref)
        if rows is None:
            raise DataError(self.name, f"no item {ref.id!r} in it", code="PL106")
        leaks = ("sign",) if ref.kind == "impact" else ()
        requests = {
            setting: Request(parts=(("request", _request(path, row)),), leaks=leaks)
            for setting, (path, row) in rows.items()
        }
        return self._prediction(ref, truth=rows[self._settings[0]][1].label, requests=requests)

    def _add(self, kind: Kind, files: dict[Setting, _File]) -> None:
        for setting in self._settings:
            if setting not in files:
                raise SpecError(
                    f"{self.name}: no prompt file of {kind} in {setting}; make it, leave {setting} out, or"
                    f" leave {kind} out of the kinds",
                    code="PL204",
                )
        if kind == "next-text" and "NP-Conv" in self._settings and len(self._settings) > 1:
            raise SpecError(
                f"{self.name}: the official NP-Conv of next text is of other posts and no control of these;"
                " leave next-text out of the kinds",
                code="PL108",
            )
        main, *controls = self._settings
        left_out = self._plan.left_out[kind]
        left_out += files[main].left_out
        by_key = {setting: _by_key(files[setting].rows, kind) for setting in controls}
        for key, row in _by_key(files[main].rows, kind).items():
            task, stratum = f"{kind}-{digest_of(*key)}", stratum_of(kind, str(row.label))
            ref = ScenarioRef(row.user, task, kind, (row.domain,), stratum)
            paired = {setting: rows[key] for setting, rows in by_key.items() if key in rows}
            if len(paired) < len(controls) or any(other.label != row.label for other in paired.values()):
                left_out.append(ExcludedPost(row.user, row.number, "not-paired"))
                continue
            self._plan.add_ref(kind, ref)
            self._rows[ref] = {s: (files[s].path, each) for s, each in {main: row, **paired}.items()}


def _read(path: Path) -> _File:
    rows: list[_Row] = []
    left_out: list[ExcludedPost] = []
    targets: set[str] = set()
    digest, start = hashlib.sha256(), 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                digest.update(line)
                row = _row(line, start, number) if line.strip() else None
                start += len(line)
                if isinstance(row, _Row) and row.target and row.target in targets:
                    row = "duplicate"
                if isinstance(row, _Row):
                    rows.append(row)
                    targets.add(row.target)
                elif row is not None:
                    left_out.append(ExcludedPost("", number, row))
    except OSError as error:
        raise DataError(path, f"cannot be read: {error.strerror}", code="PL201") from None
    kinds = sorted({row.kind for row in rows})
    if len(kinds) != 1:
        several = f"rows of {' and '.join(kinds)}; put each kind into a file of its own"
        raise DataError(path, several if kinds else "no row that the official prompt makers would write")
    name = path.name.lower()
    setting: Setting = next((setting for word, setting in _NAMED if word in name), "P-Conv")
    return _File(path, rows[0].kind, setting, rows, left_out, digest.hexdigest())


def _row(line: bytes, start: int, number: int) -> _Row | str:
    """Return the row in a line, or the reason why it is no row."""
    data, place = read_object(line) or {}, (start, len(line), number)
    task = data.get("prediction_task")
    of_row = task if isinstance(task, dict) else data
    domain = text_field(of_row, "subreddit") or UNKNOWN_DOMAIN
    if isinstance(task, dict):
        target = str(task.get("target_reply_id") or "").removeprefix(_PREFIX)
        label = task.get("true_label")
        kind: Kind = "sentiment" if isinstance(label, str) else "impact"
        known = isinstance(label, int | float) or label in ("positive", "negative")
        if not target or not isinstance(task.get("prompt_text"), str) or not known:
            return "bad-row"
        value = label if isinstance(label, str) else float(label or 0)
        return _Row(*place, _author(data, task), target, value, domain, kind)
    if not isinstance(data.get("prompt"), str) or not isinstance(data.get("true_label"), str):
        return "bad-row"
    user = str(data.get("user") or "unknown")
    return _Row(*place, user, "", data["true_label"], domain, "next-text")


def _author(data: dict[str, Any], task: dict[str, Any]) -> str:
    store, post = data.get("post_data_store"), str(task.get("target_post_reference_id") or "")
    tree = store.get(post) if isinstance(store, dict) else None
    author = text_field(tree, "author") if isinstance(tree, dict) else ""
    return author or post.partition("p")[0] or "unknown"


def _by_key(rows: Sequence[_Row], kind: Kind) -> dict[tuple[object, ...], _Row]:
    """Return the rows by the key that pairs them: the target, or the place with user and label."""
    return {
        (place, row.user, row.label) if kind == "next-text" else (row.target,): row
        for place, row in enumerate(rows)
    }


def _request(path: Path, row: _Row) -> str:
    data = read_at(path, row.start, row.size)
    task = data.get("prediction_task")
    text = task.get("prompt_text") if isinstance(task, dict) else data.get("prompt")
    if not isinstance(text, str):
        raise DataError(path, CHANGED)
    return text
