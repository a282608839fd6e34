"""Performance, as ratios against an ideal or a peer in one run; see ``__main__``."""
