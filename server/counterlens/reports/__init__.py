"""The same facts for different readers: JSON for programs, text for people."""
