"""The engine: asks, scores, journals. Knows no pytest and no HTTP dialect."""
