"""Builds reports from records: content, order and wording."""
