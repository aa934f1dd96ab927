"""Many word lists, searched in one text at once: which lists have a word, a beginning or a phrase of it.

Must not know: rules, where lists come from. Start reading at `WordLists`. A profile tests the same short text, such as the
slug of a URL, against dozens of lists with thousands of words; each word of the text is looked up once for all of them.
"""

from __future__ import annotations

_REMEMBERED = 4_096  # words whose lists are remembered: menus and addresses repeat theirs
_REMEMBERED_TEXTS = 1_024  # a page asks for its texts more than once
_LONG = 40  # characters: longer ones are rare, and would fill memory


class WordLists:
    """Word lists of whole words, beginnings (`repair*`) and phrases; each list is a bit of the answer.

    >>> lists = WordLists()
    >>> trade, about = lists.add(("repair*", "fire")), lists.add(("about us",))
    >>> lists.found("about us") == about, lists.found("repairs about fire") == trade
    (True, True)
    """

    def __init__(self) -> None:
        self._lists: dict[tuple[str, ...], int] = {}
        self._words: dict[str, int] = {}
        self._beginnings: dict[str, int] = {}
        self._sizes: list[int] = []  # of the beginnings, in characters
        self._phrases: dict[str, list[tuple[str, int]]] = {}  # by their first word
        self.texts: dict[str, int] = {}
        self.remembered: dict[str, tuple[int, list[tuple[str, int]]]] = {}

    def add(self, terms: tuple[str, ...]) -> int:
        """Add a list, and return its bit."""
        bit = self._lists.get(terms)
        if bit is not None:
            return bit
        bit = self._lists[terms] = 1 << len(self._lists)
        for term in terms:
            first, _, rest = term.partition(" ")
            if rest or first != term:
                phrase = f" {term.removesuffix('*')}{'' if term.endswith('*') else ' '}"
                self._phrases.setdefault(first, []).append((phrase, bit))
            elif term.endswith("*"):
                self._beginnings[term[:-1]] = self._beginnings.get(term[:-1], 0) | bit
            else:
                self._words[term] = self._words.get(term, 0) | bit
        self._sizes = sorted({len(beginning) for beginning in self._beginnings})
        self.remembered.clear()
        self.texts.clear()
        return bit

    def found(self, text: str) -> int:
        """Return the bits of the lists that have a word of the text; its words are separated by single spaces."""
        bits = self.texts.get(text)
        if bits is None:
            bits = self._found(text)
            if len(text) <= _LONG:
                if len(self.texts) >= _REMEMBERED_TEXTS:
                    self.texts.clear()
                self.texts[text] = bits
        return bits

    def _found(self, text: str) -> int:
        known, bits, words = self.remembered, 0, text.split(" ")
        begun: dict[str, list[tuple[str, int]]] = {}
        for word in words:
            one = known.get(word) or self._look_up(word)
            bits |= one[0]
            if one[1]:
                begun[word] = one[1]
        if begun and len(words) > 1:
            whole = f" {text} "
            for phrases in begun.values():
                for phrase, bit in phrases:
                    if phrase in whole:
                        bits |= bit
        return bits

    def _look_up(self, word: str) -> tuple[int, list[tuple[str, int]]]:
        """Return the lists of one word, and the phrases that begin with it."""
        bits = self._words.get(word, 0)
        for size in self._sizes:
            bits |= self._beginnings.get(word[:size], 0)
        found = bits, self._phrases.get(word, [])
        if len(word) <= _LONG:
            if len(self.remembered) >= _REMEMBERED:
                self.remembered.clear()
            self.remembered[word] = found
        return found
