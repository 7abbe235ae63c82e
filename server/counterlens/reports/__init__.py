"""Reports for different readers: JSON for programs, text for users."""
