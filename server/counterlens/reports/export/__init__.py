"""Results for programs: JSON, CSV, SARIF, JUnit and annotations, created from records alone."""
