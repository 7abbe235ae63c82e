"""Test runner inside the sandbox, in the user's interpreter: tests against a candidate program.

So it imports nothing from Counterlens, keeps to Python 3.8, and starts fast. It reads `task.json` from its
working directory and writes lines to the result pipe: `case <name>` before each case, and at the very end
`report <nonce> <JSON>`. The parent rejects a report without that last line.

The candidate runs in this process, as in a plain run of the tests. These measures keep a report from being
forged by accident or with little effort: the nonce is in no file and no global once the candidate is loaded;
the report is written through references taken before that; each module here has its own copy of the builtins;
the parts of unittest and pytest that decide an outcome are compared before and after; and the expected output
of doctest stays in the parent, which compares.
"""
