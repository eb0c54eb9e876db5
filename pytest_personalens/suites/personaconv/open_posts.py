"""Opens posts or prompts as a dataset, large files by an index; checks which items posts give."""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections import Counter
from functools import cache, lru_cache
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.files.destinations import read_cached, store_cached
from pytest_personalens.core.suite import DataCheck, Finding
from pytest_personalens.datasets.dataset import read_head
from pytest_personalens.datasets.embedded.packaged import packaged_file
from pytest_personalens.suites.personaconv import fixed_protocol as fixed
from pytest_personalens.suites.personaconv import official_protocol as official
from pytest_personalens.suites.personaconv.fixed_protocol import FixedProtocol
from pytest_personalens.suites.personaconv.official_protocol import OfficialProtocol
from pytest_personalens.suites.personaconv.posts import (
    Index,
    IndexedPost,
    IndexedTarget,
    PostFile,
    label_of,
    read_post,
)
from pytest_personalens.suites.personaconv.predictions import KINDS, Prediction, digest_of
from pytest_personalens.suites.personaconv.prompt_files import PromptFiles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.suites.personaconv.posts import Comment, Post, StoredPost
    from pytest_personalens.suites.personaconv.predictions import ExcludedPost, Protocol

#: The rules of each protocol.
PROTOCOLS: Final[dict[str, type[Protocol]]] = {"fixed": FixedProtocol, "official": OfficialProtocol}
#: The number of items that stay in memory, of some 15 kB each.
_KEPT: Final = 1_000
_HEAD: Final = 1 << 16
#: A field that posts have, and profiles and tasks of other data have not.
_POSTS: Final = re.compile(rb'"comments"\s*:')
#: The beginning of the first row of a prompt file: one of its keys, and no list after it.
_PROMPTS: Final = re.compile(
    r'\s*\{\s*"(?:post_data_store|prediction_task|user|prompt|true_label|subreddit)"\s*:\s*[^\[\s]'
)
#: The first bytes of files with other content.
_OTHER: Final = {
    b"PK\x03\x04": "is a ZIP archive, whatever its name says; unpack it, and give the file in it",
    b"\x1f\x8b": "is compressed (gzip); unpack it",
    b"version https://git-lfs": "is a pointer of Git LFS and holds no data; fetch it with `git lfs pull`",
    b"\xff\xfe": "is not UTF-8; save it as UTF-8",
    b"\xfe\xff": "is not UTF-8; save it as UTF-8",
}
_EXPECTED: Final = (
    "give the file of posts (an object of author -> posts, or a list of posts), a prompt file, or a folder of"
    " them"
)


class PostsDataset:
    """Predictions from posts, or from prompts. Raise `DataError` if no post gives an item."""

    def __init__(self, name: str, version: str, protocol: str, rules: Protocol | PromptFiles) -> None:
        self.name, self.version, self.protocol = name, version, protocol
        self.rules, self._plan = rules, rules.plan
        # A test and each control ask for the same item again, and to read its posts takes longer than a copy.
        self._read_once = lru_cache(maxsize=_KEPT)(self._read)
        if not any(self._plan.items.values()):
            none = f"none of its {len(self._plan.numbers)} posts makes an item: {self._plan.excluded_text}"
            raise DataError(name, none)

    @property
    def excluded(self) -> dict[str, dict[str, int]]:
        """Return how many posts give no item, by kind and reason."""
        return self._plan.excluded

    def left_out(self, kind: str) -> Sequence[ExcludedPost]:
        """Return every post that gives no item of the kind."""
        return self._plan.left_out.get(kind, ())

    def items(self, kind: str) -> Sequence[ScenarioRef]:
        """Return all items of a kind, in the order of the protocol."""
        return self._plan.items.get(kind, ())

    def domains(self) -> Sequence[str]:
        """Return every domain in its first spelling, in alphabetical order."""
        refs = (ref for of_user in self._plan.of_user.values() for ref in of_user)
        names: dict[str, str] = {}
        for ref in refs:
            names.setdefault(ref.domains[0].casefold(), ref.domains[0])
        return sorted(names.values(), key=str.casefold)

    def users(self) -> Sequence[str]:
        """Return the users with an item, in the order of the file."""
        return [user for user, refs in self._plan.of_user.items() if refs]

    def refs(self, user: str) -> Sequence[ScenarioRef]:
        """Return the items of one user. Raise `DataError` for an unknown user."""
        if user not in self._plan.of_user:
            raise DataError(self.name, f"no user {user!r} in it", code="PL106")
        return self._plan.of_user[user]

    def load(self, ref: ScenarioRef) -> Prediction:
        """Return a copy of the whole item. Raise `DataError` for a file that has changed meanwhile."""
        return self._read_once(ref).model_copy(deep=True)

    def _read(self, ref: ScenarioRef) -> Prediction:
        try:
            place = self._plan.place(ref)
        except KeyError:
            raise DataError(self.name, f"no item {ref.id!r} in it", code="PL106") from None
        truth, requests, interactions = self.rules.load(ref, place)
        checked: dict[str, Any] = {"kind": ref.kind, "protocol": self.protocol}
        return Prediction(
            id=ref.id,
            user=ref.user,
            task=ref.task,
            dataset=f"{self.name} {self.version}",
            domains=ref.domains,
            truth=truth,
            requests=requests,
            interactions=interactions,
            **checked,
        )


def open_posts(
    path: Path,
    *,
    protocol: str = "fixed",
    kinds: Sequence[str] = KINDS,
    settings: Sequence[str] = ("P-Conv",),
    history: str = "request",
    seed: str = "personalens",
) -> PostsDataset:
    """Return the predictions of a file or folder, by its content and not its name.

    `settings` holds all settings of a run, its context first. A folder with a ``dataset.toml`` has its name
    and version from there; without a version, a digest of the files is used. Raise `DataError` if there are
    neither posts nor prompts, and `SpecError` for settings that the data or the protocol does not have, and
    for prompts with another protocol than the official one.
    """
    posts, prompts = _data_files(path)
    if prompts and posts:
        problem = f"holds prompts ({prompts[0].name}) and posts ({posts[0].name}); give one of them"
        raise DataError(path, problem, code="PL203")
    options: dict[str, Any] = {"kinds": kinds, "settings": settings}
    if not prompts:
        name, version = read_name(path)
        index = open_index(posts)
        rules = PROTOCOLS[protocol](index, **options, history=history, seed=seed)
        return PostsDataset(name, version or index.digest[:12], protocol, rules)
    if protocol != "official":
        raise SpecError(
            f"{path}: prompt files hold requests of the official protocol; add"
            " -o personalens_protocol=official",
            code="PL108",
        )
    rows = PromptFiles(prompts, path.name, **options)
    return PostsDataset(path.name, rows.digest[:12], protocol, rows)


def find_post_files(path: Path) -> list[Path]:
    """Return the files of posts at a path, by their content; none if there are no posts, as in a TOML file.

    Raise `DataError` for a file that is empty or has another known format, and for prompts.
    """
    try:
        folder = path.is_dir()
        first = next(iter(sorted(path.glob("*.json"))), None) if folder else path
        if first is None or not first.is_file() or first.suffix == ".toml":
            return []
        if folder and not _POSTS.search(_read_head(first)):
            return []
    except (OSError, RuntimeError, ValueError):  # no name of a file, or a loop of links
        return []
    posts, prompts = _data_files(path)
    if prompts:
        problem = "holds prompts, and only posts can be checked; give the posts"
        raise DataError(prompts[0], problem, code="PL203")
    return posts


def read_name(path: Path) -> tuple[str, str]:
    """Return the name and the version of the posts at a path; without a ``dataset.toml``, no version."""
    head = path / "dataset.toml"
    return read_head(head) if head.is_file() else (path.name, "")


def _data_files(path: Path) -> tuple[list[Path], list[Path]]:
    """Return the files of posts and those of prompts at a path, which is a file or a folder.

    Raise `DataError` for a file of another format.
    """
    try:
        files = [path]
        if path.is_dir():
            if (path / "profile").is_dir() or (path / "profiles").is_dir():
                raise DataError(
                    path, f"is data of PersonaLens, which is the suite personalens; {_EXPECTED}", code="PL203"
                )
            found = sorted(path.rglob("*.json*"))
            files = [file for file in found if file.suffix in (".json", ".jsonl") and file.is_file()]
    except OSError as error:
        raise DataError(path, f"cannot be read: {error.strerror}; {_EXPECTED}", code="PL201") from None
    if not files:
        raise DataError(path, f"is a folder without a .json or .jsonl file in it; {_EXPECTED}", code="PL203")
    posts: list[Path] = []
    prompts: list[Path] = []
    for file in files:
        head = _read_head(file)
        for beginning, problem in _OTHER.items():
            if head.startswith(beginning):
                raise DataError(file, problem)
        if not head.strip():
            raise DataError(file, "is empty; get it again", code="PL201")
        (prompts if _PROMPTS.match(head.decode("utf-8-sig", "replace")) else posts).append(file)
    return posts, prompts


def _read_head(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(_HEAD)
    except OSError as error:
        raise DataError(file, f"cannot be read: {error.strerror}", code="PL201") from None


#: The name of the embedded posts.
EMBEDDED: Final = "personaconv"


def check_data(spec: str) -> DataCheck | None:
    """Return what there is to tell about posts, or None if the spec names no file or folder of posts.

    A spec is ``personaconv`` (the embedded posts), or the path of a file or a folder. Raise `DataError` for a
    file that cannot be read.
    """
    try:
        path = packaged_file(EMBEDDED) if spec == EMBEDDED else Path(spec).expanduser()
    except RuntimeError:  # a home that nobody has
        return None
    files = find_post_files(path)
    if not files:
        return None
    index = open_index(files)
    findings: list[Finding] = []
    domains, numbers = Counter[str](), Counter[str]()
    comments: list[int] = []
    identities: set[tuple[str, str]] = set()
    for entry in index.posts:
        numbers[entry.user] += 1
        place = str(index.files[entry.file]), f"{entry.user}, post {numbers[entry.user]}"
        if entry.fixed[0].reason == NO_POST:
            findings.append(Finding("unreadable", *place, f"no object ({NO_POST})"))
            continue
        domains[entry.domain] += 1
        comments.append(entry.comments)
        if (entry.user, entry.identity) in identities:
            findings.append(Finding("duplicate", *place, "the same post stands in the data before"))
        identities.add((entry.user, entry.identity))
    name, version = read_name(path)
    dataset, users = f"{name} {version or index.digest[:12]}", len(numbers)
    items: dict[str, dict[str, int]] = {}
    left_out: dict[str, dict[str, dict[str, int]]] = {}
    summary, every = [f"{'protocol':<10}{'kind':<11}{'posts':>8}{'items':>8}  left out"], []
    for protocol, rules in PROTOCOLS.items():
        plan = rules(index, kinds=KINDS, settings=("P-Conv",), history="request", seed="").plan
        items[protocol] = {kind: len(refs) for kind, refs in plan.items.items()}
        left_out[protocol] = plan.excluded
        for kind, reasons in plan.excluded.items():
            told = ", ".join(f"{number:,} {reason}" for reason, number in reasons.items()) or "none"
            of_kind = items[protocol][kind]
            posts = of_kind + sum(reasons.values())
            summary.append(f"{protocol:<10}{kind:<11}{posts:>8,}{of_kind:>8,}  {told}")
            each = plan.left_out[kind]
            every += [f"{protocol} {kind}: {post.user}, post {post.number}: {post.reason}" for post in each]
    if not any(number for kinds in items.values() for number in kinds.values()):
        none = f"none of the {len(index.posts):,} posts makes an item; the table above says why"
        findings.append(Finding("no-item", str(path), "", none))
    return DataCheck(
        dataset=dataset,
        rows=[
            ("users", f"{users:,}", ""),
            ("posts (domains)", f"{len(index.posts):,} ({len(domains)})", ""),
            ("comments", f"{sum(comments):,}", ""),
            ("comments a post (median, most)", f"{median(comments or [0]):g} ({max(comments or [0])})", ""),
            *((f"items, {kind}", f"{number:,}", "") for kind, number in items["fixed"].items()),
            ("findings", f"{len(findings):,}", "0"),
        ],
        summary=summary,
        details=[f"{domain or '(none)':<20}{posts:>8,} posts" for domain, posts in sorted(domains.items())],
        every=every,
        findings=findings,
        rules=3,  # unreadable, duplicate, no-item
        report={
            "schema_version": "personalens-posts-quality/2",
            "dataset": dataset,
            "users": users,
            "posts": len(index.posts),
            "domains": dict(domains),
            "comments": sum(comments),
            "items": items,
            "left_out": left_out,
            "findings": [vars(finding) for finding in findings],
        },
    )


#: Raise this number if the present code would misread an old index, or if the same file would give other
#: targets.
FORMAT: Final = 3
#: Smaller files (in bytes) are read as fast as their index.
_SMALL: Final = 1 << 20
#: Why an entry of a file gives no item if it is no object.
NO_POST: Final = "no-post"


def open_index(files: Sequence[Path]) -> Index:
    """Return the index of the files.

    The stored index is used if the files are unchanged, by size and time or by digest. A missing, damaged or
    outdated index is built again. An index that cannot be written is not stored. No process waits for
    another. Raise `DataError` for a file without posts.
    """
    files = tuple(files)
    stamps = [_stamp(file) for file in files]
    if sum(size for size, _ in stamps) < _SMALL:
        return _build(files)
    stored_stamps, index = _load(files)
    if index is not None and stored_stamps == stamps:
        return index
    # It may have been copied or touched, with the same content.
    same_sizes = [size for size, _ in stored_stamps] == [size for size, _ in stamps]
    if index is None or not same_sizes or _digest_files(files) != index.digest:
        index = _build(files)
    _store(index, stamps)
    return index


def index_post(file: int, stored: StoredPost) -> IndexedPost:
    """Return the index of an entry of the file with that number."""
    place = (file, stored.start, stored.size, stored.user)
    if not isinstance(stored.value, dict):
        none = IndexedTarget("", reason=NO_POST)
        return IndexedPost(*place, "", None, "", 0, (), (none,) * 3, none, none, none, False, False)
    post = read_post(stored.user, stored.value)
    return IndexedPost(
        *place,
        post.domain,
        post.time,
        digest_of(post.user, post.raw.get("timestamp"), post.title),
        len(post.comments),
        tuple(reply.time or 0 for reply in fixed.past_replies(post)),
        tuple(_target(post, fixed.target_of(post, kind), scored=kind == "sentiment") for kind in KINDS),
        _target(post, official.score_target(post), scored=True),
        _target(post, official.text_target(post)),
        _target(post, official.own_text_target(post)),
        official.in_pool(post),
        official.lends_thread(post),
    )


def _target(post: Post, target: Comment | str, *, scored: bool = False) -> IndexedTarget:
    if isinstance(target, str):
        return IndexedTarget("", reason=target)
    # It does not depend on the place of the post in a file.
    id_ = digest_of(post.user, post.raw.get("timestamp"), post.title, target.timestamp, target.body)
    if not scored:
        return IndexedTarget(id_)
    score = official.score_of(target)
    return IndexedTarget(id_, label_of(score), float(score or 0))


def _build(files: tuple[Path, ...]) -> Index:
    users: dict[str, list[IndexedPost]] = {}
    digests = []
    for number, file in enumerate(files):
        posts = PostFile(file)
        for stored in posts:
            users.setdefault(stored.user, []).append(index_post(number, stored))
        digests.append(posts.digest)
    return Index(files, _join(digests), tuple(post for of_user in users.values() for post in of_user))


def _digest_files(files: Sequence[Path]) -> str:
    digests = []
    for path in files:
        with path.open("rb") as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
    return _join(digests)


def _join(digests: Sequence[str]) -> str:
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def _stamp(file: Path) -> tuple[int, int]:
    try:
        status = file.stat()
    except OSError as error:
        raise DataError(file, f"cannot be read: {error.strerror}", code="PL201") from None
    return status.st_size, status.st_mtime_ns


def _store(index: Index, stamps: Sequence[tuple[int, int]]) -> None:
    head = {"format": FORMAT, "files": stamps, "digest": index.digest}
    # A post is a line, so that no more than one is in memory twice while they are read.
    content = zlib.compress("\n".join(map(json.dumps, (head, *index.posts))).encode("ascii"), 1)
    store_cached("personaconv", index.files, content)


def _load(files: tuple[Path, ...]) -> tuple[list[tuple[int, int]], Index | None]:
    """Return the stored index with the sizes and times of its files, or None for one that cannot be used."""
    content = read_cached("personaconv", files) or b""
    try:  # a checksum of zlib's own tells what is damaged
        first, *lines = zlib.decompress(content).decode("ascii").splitlines()
        head = json.loads(first)
    except (ValueError, zlib.error):
        return [], None
    if head["format"] != FORMAT:
        return [], None
    target = cache(lambda *fields: IndexedTarget(*fields))  # many are equal, and each is kept once
    posts = []
    for line in lines:
        *place, past, of_fixed, scored, text, own_text, in_pool, lends = json.loads(line)
        of_posts = [target(*each) for each in (scored, text, own_text)]
        of_kinds = tuple([target(*each) for each in of_fixed])
        values: list[Any] = [*place, tuple(past), of_kinds, *of_posts, in_pool, lends]
        posts.append(IndexedPost(*values))
    return [(size, time) for size, time in head["files"]], Index(files, head["digest"], tuple(posts))
