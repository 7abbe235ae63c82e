"""Runs tests against a candidate program; the only part of Counterlens that runs inside the sandbox.

It runs in the user's interpreter, so it imports nothing of Counterlens and keeps to Python 3.8. It reads
`task.json` from its working directory and writes lines to the result pipe: `case <name>` before each case,
and at the very end `report <nonce> <JSON>`. The parent believes nothing without that last line.

The candidate runs in this same process, so all this can raise the price of a forged report but not rule it
out. What is done: the nonce is in no file and no global when the candidate is loaded, the report is written
by references taken before that, the parts of unittest and pytest that decide are compared around whatever
the candidate does, and expected doctest output never comes here at all: the parent compares.
"""

from __future__ import annotations

import sys

del sys.path[0]  # the private folder; nothing in it is to be imported

import _json
import importlib
import importlib.machinery
import importlib.util
import io
import json
import linecache
import os
import traceback
import types

_LONGEST = 4000  # characters of a message
_OUTPUT = 20000  # characters kept of what one example prints
_DECISIVE = (
    "builtins",
    "unittest.case",
    "unittest.result",
    "unittest.suite",
    "_pytest.outcomes",
    "_pytest.python",
    "_pytest.python_api",
    "_pytest.raises",
    "_pytest.recwarn",
    "_pytest.reports",
    "_pytest.runner",
    "_pytest.unittest",
    "pluggy._callers",
    "pluggy._hooks",
    "pluggy._manager",
    "pluggy._result",
)


def open_line(descriptor, nonce):
    """The functions `case(name)` and `finish(report)`; only they know the nonce."""
    write, leave, quote, kind, text = os.write, os._exit, _json.encode_basestring_ascii, type, str

    def encode(value):
        if value is None or value is True or value is False:
            return {None: "null", True: "true", False: "false"}[value]
        if kind(value) is int:
            return int.__repr__(value)
        if kind(value) in (list, tuple):
            return "[" + ",".join([encode(item) for item in value]) + "]"
        if kind(value) is dict:
            return "{" + ",".join([quote(key) + ":" + encode(item) for key, item in value.items()]) + "}"
        return quote(value if kind(value) is text else text(value))

    def send(line):
        data = (line + "\n").encode("utf-8", "backslashreplace")
        while data:
            data = data[write(descriptor, data) :]

    def case(name):
        send("case " + quote(name[:200]))

    def finish(report):
        try:
            send("report " + nonce + " " + encode(report))
        finally:
            leave(0)

    return case, finish


class Seals:
    """The decisive functions and classes as they were: whether the candidate has replaced any."""

    def __init__(self):
        self.broken = None

    def take(self):
        found = {}
        for name in _DECISIVE:
            module = sys.modules.get(name)
            for key, value in list(vars(module).items()) if module else ():
                if callable(value):
                    found[name + "." + key] = value
                if isinstance(value, type) and value.__module__ == name and name != "builtins":
                    for attribute, member in list(vars(value).items()):
                        if callable(member) or isinstance(member, (property, classmethod, staticmethod)):
                            found[name + "." + key + "." + attribute] = member
                            found[name + "." + key + "." + attribute + " code"] = getattr(
                                member, "__code__", None
                            )
                elif isinstance(value, types.FunctionType):
                    found[name + "." + key + " code"] = value.__code__
        return found

    def compare(self, before):
        after = self.take()
        for key, value in before.items():
            if self.broken is None and after.get(key) is not value:
                self.broken = key.partition(" ")[0]


class Candidate:
    """The program under judgement, which takes the place of a file on disk for every way of importing."""

    def __init__(self, task, seals):
        self.path, self.module, self.source = task["path"], task["module"], task["source"]
        self.real = os.path.realpath(self.path)
        self.code = compile(self.source, self.path, "exec", dont_inherit=True)
        self.seals = seals
        lines = self.source.splitlines(keepends=True)
        linecache.cache[self.path] = (len(self.source), None, lines, self.path)
        self._replace_loading()

    def is_at(self, path):
        return os.path.basename(path) == os.path.basename(self.real) and os.path.realpath(path) == self.real

    def _replace_loading(self):
        loader = importlib.machinery.SourceFileLoader
        get_code, get_data, exec_module = loader.get_code, loader.get_data, loader.exec_module

        def candidate_code(this, fullname):
            return self.code if self.is_at(this.get_filename(fullname)) else get_code(this, fullname)

        def candidate_data(this, path):
            return self.source.encode("utf-8") if self.is_at(path) else get_data(this, path)

        def candidate_exec(this, module):
            if not self.is_at(this.path):
                return exec_module(this, module)
            before = self.seals.take()
            try:
                exec_module(this, module)
            except SystemExit as error:
                raise ImportError("the program calls sys.exit() while it is imported") from error
            finally:
                self.seals.compare(before)
            return None

        loader.get_code, loader.get_data, loader.exec_module = candidate_code, candidate_data, candidate_exec
        for name, module in list(sys.modules.items()):
            if self.is_at(getattr(module, "__file__", None) or ""):
                del sys.modules[name]

    def find_spec(self, fullname, path=None, target=None):
        """As a finder: the module by its name, also where its folder cannot be listed."""
        return (
            importlib.util.spec_from_file_location(fullname, self.path) if fullname == self.module else None
        )

    def load(self):
        sys.meta_path.insert(0, self)
        return importlib.import_module(self.module)


def shorten(text, limit=_LONGEST):
    return text if len(text) <= limit else text[: limit // 2] + "\n…\n" + text[-limit // 2 :]


def describe(error):
    """The last line of a traceback: type and message."""
    return shorten("".join(traceback.format_exception_only(type(error), error)).strip())


class Output(io.StringIO):
    """Takes the place of standard output for one example; keeps the beginning of a flood."""

    def write(self, text):
        if self.tell() < _OUTPUT:
            super().write(text[:_OUTPUT])
        return len(text)


def run_examples(task, candidate, case):
    """Run doctest examples one after the other and report what each printed or raised."""
    results = []
    try:
        module = candidate.load()
    except BaseException as error:
        return {"kind": "import", "message": describe(error)}
    space = dict(vars(module))
    flags = 0
    for name in __import__("__future__").all_feature_names:
        feature = getattr(__import__("__future__"), name)
        if space.get(name) is feature:
            flags |= feature.compiler_flag
    display, normal = sys.__displayhook__, sys.stdout
    for number, source in enumerate(task["examples"]):
        case(source.strip().partition("\n")[0])
        output, raised = Output(), None
        sys.stdout, sys.displayhook = output, display
        try:
            exec(compile(source, f"<example {number + 1}>", "single", flags, True), space)  # noqa: S102
        except BaseException as error:
            raised = shorten(traceback.format_exception_only(type(error), error)[-1])
        finally:
            sys.stdout = normal
        results.append([output.getvalue(), raised])
    return {"kind": "examples", "results": results}


class Cases:
    """What became of each case."""

    def __init__(self, candidate, seals, case):
        self.candidate, self.seals, self.case = candidate, seals, case
        self.results, self.expected, self.problem = [], 0, None

    def add(self, name, outcome, message=""):
        self.results.append([name, outcome, shorten(message)])

    def report(self):
        return {
            "kind": "cases",
            "results": [
                result if len(result[0]) < 300 else [result[0][:300], *result[1:]] for result in self.results
            ],
            "expected": self.expected,
            "problem": self.problem,
        }


def run_pytest(task, cases):
    """Run the chosen cases with pytest, in the user's configuration, stopping at the first failure."""
    import pytest

    chosen = {os.path.realpath(file["path"]): [tuple(c) for c in file["cases"]] for file in task["files"]}
    running = {}

    class Plugin:
        @pytest.hookimpl(trylast=True)
        def pytest_collection_modifyitems(self, config, items):
            kept = []
            for item in items:
                function = getattr(item, "originalname", None) or item.name.partition("[")[0]
                owner = getattr(item, "cls", None)
                owners = {c.__name__ for c in owner.__mro__} if owner else {""}
                wanted = chosen.get(os.path.realpath(str(item.fspath)), ())
                if any(name == function and owner in owners for owner, name in wanted):
                    kept.append(item)
            cases.expected = len(kept)
            config.hook.pytest_deselected(items=[item for item in items if item not in kept])
            items[:] = kept

        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_protocol(self, item):
            cases.case(item.nodeid)
            running.update(outcome="passed", message="")
            before = cases.seals.take()
            yield
            cases.seals.compare(before)
            cases.add(item.nodeid, running["outcome"], running["message"])

        @pytest.hookimpl(hookwrapper=True, trylast=True)
        def pytest_runtest_makereport(self, item, call):
            report = (yield).get_result()
            if call.excinfo is None and report.outcome == "passed":
                return
            message = crash_message(report, call)
            outcome = report.outcome
            if "async def functions are not natively supported" in message:
                outcome, message = (
                    "unsupported",
                    "it is asynchronous, and no pytest plugin here runs such tests",
                )
            elif outcome == "skipped" and call.excinfo is not None:
                last = str(call.excinfo.traceback[-1].path) if call.excinfo.traceback else ""
                raisers = {str(entry.path) for entry in call.excinfo.traceback} | {last}
                if any(cases.candidate.is_at(path) for path in raisers):
                    outcome, message = "failed", "the program itself skips the test"
            if running["outcome"] != "failed":
                running.update(outcome=outcome, message=message)

        def pytest_collectreport(self, report):
            if report.failed and cases.problem is None:
                cases.problem = shorten(str(report.longrepr).strip())

    def crash_message(report, call):
        crash = getattr(report.longrepr, "reprcrash", None)
        if isinstance(report.longrepr, tuple):
            return str(report.longrepr[2])
        if crash is None:
            return shorten(str(report.longrepr))
        where = f"{os.path.basename(crash.path)}:{crash.lineno}: " if crash.path else ""
        statement = ""
        if call.excinfo is not None:
            for entry in call.excinfo.traceback:
                if os.path.realpath(str(entry.path)) in chosen:
                    where = f"{os.path.basename(str(entry.path))}:{entry.lineno + 1}: "
                    statement = str(entry.statement).strip()
        return where + (statement + "\n" if statement else "") + crash.message

    arguments = ["-q", "-x", "--color=no", "--tb=short", "-p", "no:cacheprovider", "-o", "addopts="]
    code = pytest.main([*arguments, *(file["path"] for file in task["files"])], plugins=[Plugin()])
    if cases.problem is None and int(code) not in (0, 1, 5):
        cases.problem = f"pytest was interrupted or could not start (exit code {int(code)})"


def run_unittest(task, cases):
    """Run the chosen cases where pytest is not installed: TestCase methods and plain functions."""
    import inspect
    import unittest

    for file in task["files"]:
        for folder in (file["root"], os.path.dirname(file["path"])):
            if folder not in sys.path:
                sys.path.insert(0, folder)
        try:
            module = importlib.import_module(file["module"])
        except unittest.SkipTest as error:
            cases.add(file["module"], "skipped", str(error))
            cases.expected += 1
            continue
        except BaseException as error:
            if isinstance(error, ImportError) and error.name == "pytest":
                cases.expected += 1
                cases.add(
                    file["module"], "unsupported", "it needs pytest, which this interpreter does not have"
                )
                continue
            cases.problem = f"{os.path.basename(file['path'])} cannot be imported: {describe(error)}"
            return
        for owner, name in file["cases"]:
            cases.expected += 1
            label = "::".join([os.path.basename(file["path"]), *([owner] if owner else []), name])
            cases.case(label)
            before = cases.seals.take()
            outcome, message = run_one(module, owner, name, unittest, inspect)
            cases.seals.compare(before)
            cases.add(label, outcome, message)
            if outcome == "failed":
                return


def run_one(module, owner, name, unittest, inspect):
    holder = getattr(module, owner) if owner else module
    if owner and issubclass(holder, unittest.TestCase):
        result = unittest.TestResult()
        unittest.TestSuite([holder(name)]).run(result)
        for failed in (result.failures, result.errors):
            if failed:
                return "failed", failed[0][1].strip()
        if result.unexpectedSuccesses:
            return "failed", "it was expected to fail"
        if result.skipped:
            return "skipped", result.skipped[0][1]
        if result.expectedFailures or result.testsRun != 1:
            return "skipped", "it is expected to fail"
        return "passed", ""
    try:
        test = getattr(holder() if owner else holder, name)
        needed = list(inspect.signature(test).parameters)
        if needed:
            return "unsupported", f"it needs pytest for its fixture {needed[0]}"
        if inspect.iscoroutinefunction(test):
            return "unsupported", "it is asynchronous, which needs pytest and a plugin"
        test()
    except unittest.SkipTest as error:
        return "skipped", str(error)
    except BaseException as error:
        return "failed", "".join(
            traceback.format_exception(type(error), error, error.__traceback__)[-3:]
        ).strip()
    return "passed", ""


def judge(task, case):
    """The report on one task."""
    seals = Seals()
    try:
        candidate = Candidate(task, seals)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        reason = getattr(error, "msg", None) or str(error) or type(error).__name__
        return {"kind": "invalid", "line": line, "message": str(reason)}
    for folder in reversed(task["roots"]):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    if task["folder"]:
        os.chdir(task["folder"])
    if "examples" in task:
        report = run_examples(task, candidate, case)
    else:
        cases = Cases(candidate, seals, case)
        if importlib.util.find_spec("pytest"):
            importlib.import_module("_pytest.config")
            run_pytest(task, cases)
        else:
            run_unittest(task, cases)
        report = cases.report()
    if seals.broken:
        return {"kind": "tampered", "message": seals.broken}
    return report


def main():
    with open("task.json", encoding="utf-8") as file:  # noqa: PTH123
        task = json.load(file)
    os.unlink("task.json")  # noqa: PTH108
    descriptor = int(os.environ.pop("COUNTERLENS_RESULT_FD"))
    os.set_inheritable(descriptor, False)
    case, finish = open_line(descriptor, task.pop("nonce"))
    sys.modules["__main__"] = types.ModuleType("__main__")
    sys.argv[:] = [task["path"]]
    try:
        report = judge(task, case)
    except BaseException as error:
        report = {"kind": "broken", "message": describe(error)}
    finish(report)


if __name__ == "__main__":
    main()
