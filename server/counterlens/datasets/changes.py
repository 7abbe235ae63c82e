"""What differs from a revision: Python files of a folder, compared with those of a commit line by line.

Git only names the commit's files and gives their bytes (`git.py`), so no setting of a user, attribute of a
file or mark in the index hides a difference or shows one in another form. Line ends do not count, since git
may write them as the platform has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from counterlens.datasets import git
from counterlens.errors import DataError


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a file that changed; None means all of them."""

    ranges: tuple[tuple[int, int], ...] | None

    def overlaps(self, first: int, last: int) -> bool:
        """Whether any line of a range changed."""
        return self.ranges is None or any(a <= last and first <= b for a, b in self.ranges)


def changed_lines(path: Path, revision: str) -> dict[Path, Lines]:
    """The lines of Python files that differ from a revision; files that git does not know count as new.

    Later changes on the branch of the revision itself do not count as differences. Where lines were deleted,
    the lines around them differ. A file with another name in the index is compared with the one that it was.

    Raises:
        DataError: it is not a git repository, or has no such revision.
    """
    if revision.startswith("-"):
        raise DataError(f"{revision} is no revision", "Give a commit or a branch, such as HEAD~1")
    since = git.parting(path, revision) or revision
    before = git.blobs(path, since)
    now = git.list_files(path, "--cached", "--others", "--exclude-standard", "--", "*.py")
    if before is None or now is None:
        raise _incomparable(path, revision)
    earlier = {
        name: before[old] for name, old in git.renamed_files(path, since).items() if old in before
    } | before
    changed: dict[Path, Lines] = {}
    edited: list[tuple[Path, git.Blob, bytes]] = []
    for name in sorted({*now, *(name for name in before if name.endswith(".py"))}):
        file, blob = path / name, earlier.get(name)
        content = git.content(file)
        if content is None and not file.exists():
            continue
        if blob is not None and content is not None and blob.is_of(content):
            continue
        if blob is None or content is None or blob.is_link or file.is_symlink():
            changed[file] = Lines(None)
        else:
            edited.append((file, blob, content))
    texts = git.contents(path, [blob for _, blob, _ in edited]) if edited else []
    if texts is None:
        raise _incomparable(path, revision)
    for (file, _, content), text in zip(edited, texts, strict=True):
        if spans := tuple(_different(_lines(text), _lines(content))):
            changed[file] = Lines(spans)
    return changed


def _incomparable(path: Path, revision: str) -> DataError:
    return DataError(
        f"git cannot compare {path} with {revision}",
        "--since needs a git repository, and one of its commits or branches, such as HEAD~1 or main",
    )


def _lines(content: bytes) -> list[bytes]:
    return [line.rstrip(b"\r") for line in content.removesuffix(b"\n").split(b"\n")]


def _different(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """First and last of the new lines that differ, 1-based; for deleted lines, the lines around them."""
    fewest = min(len(old), len(new))
    start = next((i for i in range(fewest) if old[i] != new[i]), fewest)
    end = next((i for i in range(fewest - start) if old[-1 - i] != new[-1 - i]), fewest - start)
    middle = old[start : len(old) - end]  # alike lines of a long middle part may count as different, too
    matcher = SequenceMatcher(None, middle, new[start : len(new) - end])
    for kind, first, last, begin, stop in matcher.get_opcodes():
        if kind == "delete":  # what follows blank lines was not joined to what is deleted, but a decorator is
            yield start + begin, start + begin + bool(middle[first:last][-1].strip())
        elif kind != "equal":
            yield start + begin + 1, start + stop
