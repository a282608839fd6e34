"""Runs programs that models wrote, where they can do no harm: bubblewrap or a container engine."""
