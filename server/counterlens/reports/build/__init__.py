"""From records to reports: what is shown, in which order and in which words."""
