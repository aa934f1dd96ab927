"""Simulations: what a policy would have achieved in a world whose changes are known.

Owns: worlds (`worlds.py`: read, `made.py`: made up, `stored.py`: of a store), runs (`running.py`), the policies as arrays
(`policies.py`, and `learned.py` with its `priors.py`, `clocks.py`, `ages.py`), and what fetches were worth (`measures.py`,
`trials.py`). Must not know: stores but for reading one, how a crawl goes. Start reading at `trials.try_policies`. All of it
needs numpy, an extra.
"""
