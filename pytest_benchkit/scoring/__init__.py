"""Scorers: pure functions from an answer and its gold to a Score. Total, bounded, linear in the text."""
