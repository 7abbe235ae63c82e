"""From records to reports: content, order and wording."""
