"""Pins of every data set, grouped by how its rows are answered. Read through ``datasets.catalog``."""
