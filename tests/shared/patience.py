"""How long tests wait for what must happen: so long that only a hang takes longer, on any machine under any load."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

HANG_S = 900.0


def wait_until(is_so: Callable[[], object]) -> None:
    """Wait for another process or thread, however slow it is."""
    pause = threading.Event()
    for _ in range(int(HANG_S / 0.005)):
        if is_so():
            return
        pause.wait(0.005)
    raise TimeoutError("it did not happen")
