"""Records of a run, the folder that keeps them, and the numbers computed from them."""
