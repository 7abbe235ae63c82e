"""Results for programs: JSON, CSV, SARIF and annotations, created from records alone."""
