"""Results for programs: JSON, CSV, SARIF, JUnit and annotations, made from records alone."""
