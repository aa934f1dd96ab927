"""Which documents reach lines that none before them reached.

Owns: `Reached`. Must not know: targets, documents. Where Python can monitor itself (3.12 and later) each line of the
package reports once and is then left alone, so that watching costs next to nothing; before that nothing is reported.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import CodeType

_PACKAGE = "honeyguide"


class Reached:
    """Counts lines of the package as they are reached for the first time."""

    def __init__(self) -> None:
        self.lines = 0
        self._seen = 0

    def watch(self) -> bool:
        """Begin; False where Python cannot."""
        monitoring: Any = getattr(sys, "monitoring", None)
        if monitoring is None:
            return False

        def on_line(code: CodeType, _line: int) -> Any:
            self.lines += _PACKAGE in code.co_filename
            return monitoring.DISABLE

        monitoring.use_tool_id(monitoring.COVERAGE_ID, "fuzz")
        monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE, on_line)
        monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.LINE)
        return True

    def is_new(self) -> bool:
        """Tell whether a line was reached for the first time since the last question."""
        is_new = self.lines > self._seen
        self._seen = self.lines
        return is_new
