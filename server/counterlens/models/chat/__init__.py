"""Chat models as writers of code: the instructions to them, and the extraction of code from their replies."""
