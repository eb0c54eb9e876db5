"""Files of the official prompt makers as a dataset.

Their requests are used byte for byte.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.scenario import ScenarioRef
from pytest_personalens.suites.personaconv.data.plan import LeftOut, by_reason, counted, spelled
from pytest_personalens.suites.personaconv.values import (
    UNKNOWN_DOMAIN,
    Prediction,
    Request,
    digest_of,
    kind_of,
    stratum_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_personalens.suites.personaconv.values import Kind, ProtocolName, Setting

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
    left_out: list[LeftOut]
    digest: str


class PromptsDataset:
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
        self.name = name
        self.version = hashlib.sha256("".join(file.digest for file in read).encode()).hexdigest()[:12]
        self._settings = settings
        self._rows: dict[ScenarioRef, dict[Setting, tuple[Path, _Row]]] = {}
        self._left_out: dict[Kind, list[LeftOut]] = {}
        for kind in kinds:
            self._add(kind, {file.setting: file for file in read if file.kind == kind})
        if not self._rows:
            raise DataError(name, f"no row makes an item: {counted(self.excluded)}")

    def posts(self, kind: Kind) -> int:
        """Return the number of rows in the file of the kind.

        It is the number of its items, plus the rows that are left out.
        """
        return len(self.items(kind)) + len(self.left_out(kind))

    @property
    def excluded(self) -> dict[Kind, dict[str, int]]:
        """Return how many rows give no item, by kind and reason."""
        return by_reason(self._left_out)

    def left_out(self, kind: Kind) -> Sequence[LeftOut]:
        """Return every row that gives no item of the kind.

        Its number is that of its line.
        """
        return self._left_out.get(kind, [])

    def items(self, kind: Kind) -> Sequence[ScenarioRef]:
        """Return all items of a kind, in the order of their file."""
        return [ref for ref in self._rows if ref.kind == kind]

    def domains(self) -> Sequence[str]:
        """Return every domain in its first spelling, in alphabetical order."""
        return spelled(self._rows)

    def users(self) -> Sequence[str]:
        """Return the users with an item, in the order of the files."""
        return list(dict.fromkeys(ref.user for ref in self._rows))

    def refs(self, user: str) -> Sequence[ScenarioRef]:
        """Return the items of one user.

        Raise `DataError` for an unknown user.
        """
        if refs := [ref for ref in self._rows if ref.user == user]:
            return refs
        raise DataError(self.name, f"no user {user!r} in it")

    def load(self, ref: ScenarioRef) -> Prediction:
        """Return the whole item.

        Raise `DataError` for a file that has changed meanwhile.
        """
        rows = self._rows.get(ref)
        if rows is None:
            raise DataError(self.name, f"no item {ref.id!r} in it")
        texts = {setting: _request(path, row) for setting, (path, row) in rows.items()}
        leaks = ("sign",) if ref.kind == "impact" else ()
        return Prediction(
            id=ref.id,
            user=ref.user,
            task=ref.task,
            dataset=f"{self.name} {self.version}",
            kind=kind_of(ref),
            domains=ref.domains,
            protocol=self.protocol,
            truth=rows[self._settings[0]][1].label,
            requests={s: Request(parts=(("request", text),), leaks=leaks) for s, text in texts.items()},
        )

    def _add(self, kind: Kind, files: dict[Setting, _File]) -> None:
        if not files:
            return
        for setting in self._settings:
            if setting not in files:
                raise SpecError(
                    f"{self.name}: no prompt file of {kind} in {setting}; make it, leave {setting} out, or"
                    f" leave {kind} out of the kinds"
                )
        if kind == "next-text" and "NP-Conv" in self._settings and len(self._settings) > 1:
            raise SpecError(
                f"{self.name}: the official NP-Conv of next text is of other posts and no control of these;"
                " leave next-text out of the kinds"
            )
        main = files[self._settings[0]]
        left_out = self._left_out.setdefault(kind, list(main.left_out))
        others = {setting: _by_key(files[setting].rows, kind) for setting in self._settings[1:]}
        for key, row in _keyed(main.rows, kind):
            ref = ScenarioRef(
                row.user, f"{kind}-{digest_of(*key)}", kind, (row.domain,), stratum_of(kind, str(row.label))
            )
            paired = {setting: rows[key] for setting, rows in others.items() if key in rows}
            alike = all(other.label == row.label for other in paired.values())
            if len(paired) < len(others) or not alike:
                left_out.append(LeftOut(row.user, row.number, "not-paired"))
                continue
            self._rows[ref] = {self._settings[0]: (main.path, row)}
            self._rows[ref] |= {setting: (files[setting].path, other) for setting, other in paired.items()}


def _read(path: Path) -> _File:
    rows: list[_Row] = []
    left_out: list[LeftOut] = []
    seen: set[str] = set()
    digest, start = hashlib.sha256(), 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                digest.update(line)
                row = _row(line, start, number) if line.strip() else None
                start += len(line)
                if isinstance(row, _Row) and row.target and row.target in seen:
                    row = "duplicate"
                if isinstance(row, _Row):
                    rows.append(row)
                    seen.add(row.target)
                elif row is not None:
                    left_out.append(LeftOut("", number, row))
    except OSError as error:
        raise DataError(path, f"cannot be read: {error.strerror}") from None
    kinds = sorted({row.kind for row in rows})
    if len(kinds) != 1:
        several = f"rows of {' and '.join(kinds)}; put each kind into a file of its own"
        raise DataError(path, several if kinds else "no row that the official prompt makers would write")
    name = path.name.lower()
    setting: Setting = next((setting for word, setting in _NAMED if word in name), "P-Conv")
    return _File(path, rows[0].kind, setting, rows, left_out, digest.hexdigest())


def _row(line: bytes, start: int, number: int) -> _Row | str:
    """Return the row in a line, or the reason why it is no row."""
    data = _object(line)
    task = data.get("prediction_task") if data else None
    place = (start, len(line), number)
    if isinstance(task, dict):
        target = str(task.get("target_reply_id") or "").removeprefix(_PREFIX)
        label = task.get("true_label")
        kind = _kind(label)
        if not target or not isinstance(task.get("prompt_text"), str) or kind is None:
            return "bad-row"
        return _Row(*place, _author(data, task), target, _label(label), _domain(task), kind)
    if not isinstance(data.get("prompt"), str) or not isinstance(data.get("true_label"), str):
        return "bad-row"
    return _Row(
        *place, str(data.get("user") or "unknown"), "", data["true_label"], _domain(data), "next-text"
    )


def _object(line: bytes) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _kind(label: object) -> Kind | None:
    if isinstance(label, str):
        return "sentiment" if label in ("positive", "negative") else None
    return "impact" if isinstance(label, int | float) else None


def _label(label: Any) -> str | float:
    return label if isinstance(label, str) else float(label)


def _author(data: dict[str, Any], task: dict[str, Any]) -> str:
    store, post = data.get("post_data_store"), str(task.get("target_post_reference_id") or "")
    tree = store.get(post) if isinstance(store, dict) else None
    author = tree.get("author") if isinstance(tree, dict) else None
    return author if isinstance(author, str) and author else post.partition("p")[0] or "unknown"


def _domain(data: dict[str, Any]) -> str:
    domain = data.get("subreddit")
    return domain if isinstance(domain, str) and domain else UNKNOWN_DOMAIN


def _keyed(rows: Sequence[_Row], kind: Kind) -> Iterator[tuple[tuple[object, ...], _Row]]:
    """Yield each row with the key that pairs it.

    The key is the target, or the place among the rows with user and label.
    """
    for place, row in enumerate(rows):
        yield ((place, row.user, row.label) if kind == "next-text" else (row.target,)), row


def _by_key(rows: Sequence[_Row], kind: Kind) -> dict[tuple[object, ...], _Row]:
    return dict(_keyed(rows, kind))


def _request(path: Path, row: _Row) -> str:
    try:
        with path.open("rb") as file:
            file.seek(row.start)
            data = _object(file.read(row.size))
    except OSError as error:
        raise DataError(path, f"cannot be read: {error.strerror}") from None
    task = data.get("prediction_task")
    text = task.get("prompt_text") if isinstance(task, dict) else data.get("prompt")
    if not isinstance(text, str):
        raise DataError(path, "has changed since this run began; run again")
    return text
