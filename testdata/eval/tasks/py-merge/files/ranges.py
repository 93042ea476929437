"""Ranges of whole numbers."""
