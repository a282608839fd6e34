"""Loop detection: whether a reply goes round in circles, told while it arrives (engine rules L-1 to L-9).

The verdict depends on the text alone, never on how it was cut into chunks or when they came.
"""
