"""A made-up web and a made-up clock: the real engine runs on both, from a seed.

In comes what the web is like, and the settings of a round; out comes how the round went
(`Trial`), what it broke (`broken`), and how long a real one would take (`forecast`).
"""
