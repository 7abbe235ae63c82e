"""Chat models as writers of code: how they are instructed, and how code is read out of their replies."""
