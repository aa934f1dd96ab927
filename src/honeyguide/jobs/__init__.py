"""Async orchestration of the core and the ports: no rules, no SQL, no adapters."""
