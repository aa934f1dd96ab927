"""What all tests share: a process in which Ctrl-C means something, and examples that may take as long as they need."""

from __future__ import annotations

import signal

from hypothesis import settings

settings.register_profile("any machine", deadline=None)  # a slow or busy machine is no failure
settings.load_profile("any machine")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Shells start what runs in the background so, and whatever a test starts would ignore Ctrl-C, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
