"""Scores a text against the true one by ROUGE, BLEU, METEOR and likeness of vectors."""

from __future__ import annotations

import importlib
import io
import math
import re
import sys
import threading
import warnings
import weakref
from collections import Counter
from contextlib import suppress
from functools import cached_property
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import SpecError, error_text
from pytest_personalens.core.runtime import once

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Embedding = Callable[[Sequence[str]], Sequence[Sequence[float]]]

#: The highest number of words and signs of a reply that are scored. The time of ROUGE-L grows with the square
#: of this number.
_TOKENS: Final = 1000
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
_GRAMS: Final = (3, 4, 5)
_EXTRA: Final = ("nltk", "rouge-score")
_FOLDER_OF_MODEL: Final = "sentence-transformers"
#: The number of the lexicographer's files (WordNet's lexnames(5WN)).
_LEXICOGRAPHERS: Final = 45


class TextScorer:
    """Scores texts by measure, from 0 to 1: rouge1, rougeL, bleu, meteor or meteor-es, and sbert or chars.

    METEOR needs WordNet: in a folder of NLTK's data (`nltk_data`), which may also have a trained splitter of
    sentences, or in a folder of WordNet's own files. Without it, ``meteor-es`` has only the stages of exact
    words and stems. SBERT needs an embedding, whose relative paths start at `root`. Without one, ``chars`` is
    the cosine of n-grams of characters. Several threads may use the scorer. Raise `SpecError` if the extra is
    missing, or if the folder or the embedding is invalid.
    """

    def __init__(self, *, nltk_data: Path | None = None, embedding: str = "", root: Path | str = "") -> None:
        try:
            self._versions = ", ".join(f"{name} {metadata.version(name)}" for name in _EXTRA)
        except metadata.PackageNotFoundError:
            raise SpecError(
                "next-text needs the extra text: pip install 'pytest-personalens[text]', or leave next-text"
                " out (--personalens-kind sentiment,impact)",
                code="PL305",
            ) from None
        self._data, self._spec = nltk_data, embedding
        self._embedding = open_embedding(embedding, Path(root)) if embedding else None
        self._one_at_a_time = threading.Lock()
        self.meteor = "meteor" if nltk_data else "meteor-es"
        self.likeness = "sbert" if embedding else "chars"
        #: The names of its measures, in the order of reports.
        self.measures = ("rouge1", "rougeL", "bleu", self.meteor, self.likeness)
        if nltk_data is not None:
            _ = self._wordnet, self._split  # missing data is reported before the run asks anything

    @property
    def identity(self) -> str:
        """Return everything that its values depend on, in one line."""
        tokenizer = "punkt" if self._trained else "punkt untrained"
        kind, _, path = self._spec.partition(":")
        spec = f"{kind}:{Path(path).name}" if kind == _FOLDER_OF_MODEL else self._spec
        named = f", sbert by {spec}" if self._spec else ""
        return f"texts/1 ({self._versions}, {tokenizer}, {self.meteor}, {self.likeness}{named})"

    def values(self, truth: str, reply: str) -> dict[str, float]:
        """Return the value of each measure for a reply, up to its 1,000th word, and the true text."""
        from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
        from nltk.translate.meteor_score import meteor_score

        reply = _head(reply)
        with self._one_at_a_time:  # NLTK's reader of WordNet has one file for all
            rouge = self._rouge.score(truth, reply)
            true_tokens, tokens = self._tokens(truth), self._tokens(reply)
            found = (
                rouge["rouge1"].fmeasure,
                rouge["rougeL"].fmeasure,
                sentence_bleu([true_tokens], tokens, smoothing_function=SmoothingFunction().method1),
                meteor_score([true_tokens], tokens, wordnet=self._wordnet, alpha=0.9, beta=3, gamma=0.5),
                self._alike(truth, reply),
            )
        return dict(zip(self.measures, map(float, found), strict=True))

    @cached_property
    def _rouge(self) -> Any:
        from rouge_score.rouge_scorer import RougeScorer

        return RougeScorer(["rouge1", "rougeL"], use_stemmer=True)

    @cached_property
    def _split(self) -> Callable[[str], list[str]]:
        """Return a function that splits a text into sentences, a trained one if NLTK's data has one."""
        from nltk.tokenize import punkt

        tokenizer = punkt.PunktSentenceTokenizer()
        if self._trained is not None:
            try:
                tokenizer._params = punkt.load_punkt_params(self._trained)  # noqa: SLF001  # as NLTK's loader
            except OSError as error:
                raise SpecError(
                    f"{self._data}: its tokenizers/punkt_tab cannot be read: {error}", code="PL201"
                ) from None
        split: Callable[[str], list[str]] = tokenizer.tokenize
        return split

    @cached_property
    def _trained(self) -> Any:
        return self._found("tokenizers/punkt_tab/english") if self._data else None

    @cached_property
    def _wordnet(self) -> Any:
        if self._data is None:
            return SimpleNamespace(synsets=lambda *_: [])  # a WordNet without words
        found = self._found("" if (self._data / "data.noun").is_file() else "corpora/wordnet")
        if found is None:
            raise SpecError(
                f"{self._data}: has no corpora/wordnet in it, and no data.noun; put NLTK's package wordnet"
                " there, name a folder of WordNet's own files such as /usr/share/wordnet, or give no folder,"
                " for METEOR's stages of exact words and stems alone",
                code="PL201",
            )
        return _read_wordnet(found)

    def _found(self, name: str) -> Any:
        """Return a package of NLTK's data, unpacked or not, or None; without a name, the folder itself."""
        from nltk import data

        root = str(Path(self._data or "").resolve())
        # NLTK reads only from folders in its search path.
        if root not in data.path:
            data.path.insert(0, root)
        if not name:
            return data.FileSystemPathPointer(root)
        kind, package, *rest = name.split("/")
        packed = "/".join((kind, f"{package}.zip", package, *rest, ""))
        for place in (name, packed):
            with suppress(LookupError):
                return data.find(place, paths=[root])
        return None

    def _tokens(self, text: str) -> list[str]:
        words = _word_tokenizer()
        return [token for sentence in self._split(text.lower()) for token in words.tokenize(sentence)]

    def _alike(self, truth: str, reply: str) -> float:
        """Return the cosine of two texts. It is 0 if one of them is empty."""
        if self._embedding is None:
            one, other = _grams(truth), _grams(reply)
        else:
            one, other = (Counter(dict(enumerate(v))) for v in self._embedding([truth, reply]))
        length = math.hypot(*one.values()) * math.hypot(*other.values())
        return min(1.0, sum(value * other[key] for key, value in one.items()) / length) if length else 0.0


def _read_wordnet(folder: Any) -> Any:
    """Return NLTK's reader of the WordNet in a folder of its search path.

    Debian's package has neither ``lexnames`` nor ``index.sense``. METEOR needs neither: the reader uses the
    first for names that METEOR never asks for, and the second for other languages. Raise `SpecError` if it
    cannot be read.
    """
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class Reader(WordNetCorpusReader):  # type: ignore[misc]  # NLTK has no types
        def open(self, file: str) -> Any:
            if file == "lexnames":
                return io.StringIO("".join(f"{number:02}\t-\t0\n" for number in range(_LEXICOGRAPHERS)))
            return super().open(file)

        def map_wn(self, version: str = "wordnet") -> None:
            """Map nothing to another version, because there is no other language."""

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about other languages
            reader = Reader(folder, None)
    except (OSError, ValueError, AssertionError) as error:
        raise SpecError(f"{folder}: is no WordNet: {error_text(error)}", code="PL201") from None
    files = reader._data_file_map  # noqa: SLF001  # it leaves its files open
    weakref.finalize(reader, lambda: [file.close() for file in files.values()])
    return reader


def open_embedding(spec: str, root: Path) -> Embedding:
    """Return the embedding of a spec: ``sentence-transformers:PATH``, or ``module:attribute``.

    It maps texts to vectors. The path is that of a folder, and nothing is downloaded. A relative path and a
    module are in the folder `root`. Raise `SpecError` for an invalid spec, and later unless there is one
    finite vector for each text.
    """
    module, _, attribute = spec.partition(":")
    if not attribute:
        raise SpecError(
            f"embedding: expected sentence-transformers:PATH or module:attribute, not {spec!r}", code="PL307"
        )
    if module == _FOLDER_OF_MODEL:
        embedding = _sentence_transformer(root, attribute)
    else:
        sys.path.insert(0, str(root.resolve()))
        try:
            embedding = getattr(importlib.import_module(module), attribute)
        except Exception as error:  # an import may raise anything
            raise SpecError(
                f"embedding: cannot take {attribute!r} from {module!r}: {error_text(error)}", code="PL307"
            ) from None
        finally:
            sys.path.pop(0)
    if not callable(embedding):
        raise SpecError(f"embedding: {spec!r} cannot be called; it must map texts to vectors", code="PL307")

    def vectors(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        try:
            found = [[float(number) for number in vector] for vector in embedding(texts)]
        except Exception as error:  # a custom embedding may raise anything
            raise SpecError(f"embedding {spec}: {error_text(error)}", code="PL307") from None
        alike = len({len(vector) for vector in found}) == 1 and len(found) == len(texts)
        if not alike or not all(math.isfinite(number) for vector in found for number in vector):
            raise SpecError(
                f"embedding {spec}: expected one vector of finite numbers for each text", code="PL307"
            )
        return found

    return vectors


def _sentence_transformer(root: Path, path: str) -> Any:
    try:
        folder = root / Path(path).expanduser()
        exists = folder.is_dir()
    except (RuntimeError, ValueError, OSError) as error:  # of an unknown user, with a NUL, too long
        raise SpecError(f"embedding: {path[:100]!r}: {error}", code="PL307") from None
    if not exists:
        raise SpecError(
            f"embedding: {folder} is no folder of a model; download it there, and give its path", code="PL307"
        )
    try:
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(str(folder), local_files_only=True).encode
    except ImportError:
        raise SpecError(
            "embedding: sentence-transformers is not installed; install it", code="PL305"
        ) from None
    except Exception as error:  # the library may raise anything
        raise SpecError(f"embedding: {folder} is no model: {error_text(error)}", code="PL303") from None


@once
def _word_tokenizer() -> Any:
    from nltk.tokenize.destructive import NLTKWordTokenizer

    return NLTKWordTokenizer()


def _head(text: str) -> str:
    for number, token in enumerate(_TOKEN.finditer(text), 1):
        if number == _TOKENS:
            return text[: token.end()]
    return text


def _grams(text: str) -> Counter[Any]:
    line = f" {' '.join(text.lower().split())} "
    return Counter(line[at : at + size] for size in _GRAMS for at in range(len(line) - size + 1))
