"""What happens during a call, line by line."""
