"""WordNet for METEOR: NLTK's package, or the files of an operating system's package."""

from __future__ import annotations

import io
import warnings
import weakref
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import SpecError, error_text

if TYPE_CHECKING:
    from pathlib import Path

#: The number of the lexicographer's files (WordNet's lexnames(5WN)).
_LEXICOGRAPHERS: Final = 45


def is_wordnet(folder: Path) -> bool:
    """True if the folder itself holds WordNet's files, such as ``/usr/share/wordnet``."""
    return (folder / "data.noun").is_file()


def read_wordnet(folder: Any) -> Any:
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
        raise SpecError(f"{folder}: is no WordNet: {error_text(error)}") from None
    weakref.finalize(reader, _close, reader._data_file_map)  # noqa: SLF001  # it leaves its files open
    return reader


def _close(files: dict[str, Any]) -> None:
    for file in files.values():
        file.close()
