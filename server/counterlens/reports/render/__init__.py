"""Reports in the forms that people read: each form escapes, fences and lays out tables in one place."""
