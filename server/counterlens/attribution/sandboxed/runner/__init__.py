"""Test runner inside the sandbox, in the user's interpreter: tests against a candidate program.

So it imports nothing of Counterlens, keeps to Python 3.8, and starts fast. It reads `task.json` from its
working directory and writes lines to the result pipe: `case <name>` before each case, and at the very end
`report <nonce> <JSON>`. The parent believes nothing without that last line.

The candidate runs in this same process, so all this raises the price of a forged report but cannot rule it
out. What is done: the nonce is in no file and no global once the candidate is loaded; the report is written
by references taken before that; each module here has its own copy of the builtins; what decides in unittest
and pytest is compared around whatever the candidate does; and the expected output of doctest never comes
here at all, the parent compares.
"""
