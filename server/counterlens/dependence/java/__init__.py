"""The dependences of Java's methods."""
