"""Plug-ins for what people use already: one file each, on the public names of `honeyguide` alone.

Each needs its framework, which Honeyguide does not install; the guides say which versions were tested.
"""
