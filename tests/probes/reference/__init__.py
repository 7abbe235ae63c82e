"""Tests of the usual scores."""
