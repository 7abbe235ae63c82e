"""Java in the sandbox: a development kit, a worker that waits inside, and the connection to it."""
