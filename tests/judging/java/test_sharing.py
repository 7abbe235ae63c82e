"""Programs share a JVM only if all that they name is harmless."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from counterlens.errors import SandboxError
from counterlens.java.judging.sharing import why_alone
from counterlens.sandbox.java.machine import find_jdk

BODIES = {
    "sum": ("return xs.stream().mapToInt(x -> x).sum();", None),
    "text": ('return String.format("%d", xs.size()).length() + ("a" + xs).length();', None),
    "printing": ("System.out.println(xs); return 0;", None),
    "failing": ('throw new IllegalStateException("no");', None),
    "checking": ('if (xs.isEmpty()) throw new AssertionError("none"); return 0;', None),
    "expecting": ("try { return xs.get(0); } catch (Exception e) { return 0; }", None),
    "regex": ('return java.util.regex.Pattern.compile("a+").matcher("aa").matches() ? 1 : 0;', None),
    "threads": ("new Thread(() -> {}).start(); return 0;", "java/lang/Thread"),
    "parallel": ("return xs.parallelStream().mapToInt(x -> x).sum();", "parallelStream"),
    "leaving": ("System.exit(1); return 0;", "java/lang/System.exit"),
    "reading": ("return System.in.hashCode();", "java/lang/System.in"),
    "files": ('return new java.io.File("a").hashCode();', "java/io/File"),
    "reflection": ("return xs.getClass().getMethods().length;", "java/lang/Class.getMethods"),
    "overflow": (
        "try { return 1; } catch (StackOverflowError e) { return 0; }",
        "java/lang/StackOverflowError",
    ),
    "loader": ("return xs.getClass().getClassLoader() == null ? 1 : 0;", "java/lang/Class.getClassLoader"),
    "printer": (
        'try { new java.io.PrintStream("a"); } catch (Exception e) {} return 0;',
        "java/io/PrintStream.<init>",
    ),
    "settings": ("Locale.setDefault(Locale.ROOT); return 0;", "java/util/Locale.setDefault"),
    "deputy": (
        "return new Object() { protected void finalize() { } }.hashCode();",
        "finalize",
    ),
    "waiting": (
        "synchronized (xs) { try { xs.wait(); } catch (Exception e) { } } return 0;",
        "wait",
    ),
}


def test_what_a_program_names_decides(tmp_path: Path) -> None:
    try:
        jdk = find_jdk()
    except SandboxError as error:
        pytest.skip(str(error))
    for name, (body, _) in BODIES.items():
        text = f"import java.util.*; class {name.title()} {{ int f(List<Integer> xs) {{ {body} }} }}"
        (tmp_path / f"{name}.java").write_text(text)
    subprocess.run(
        [jdk.javac, "-nowarn", "-d", tmp_path, *tmp_path.glob("*.java")], check=True, capture_output=True
    )
    found = {}
    for name in BODIES:
        classes = {path.stem: path.read_bytes() for path in tmp_path.glob(f"{name.title()}*.class")}
        found[name] = why_alone(classes)
    harmless = {name for name, why in found.items() if why is None}
    assert harmless == {name for name, (_, why) in BODIES.items() if why is None}
    for name, (_, why) in BODIES.items():
        assert (why or "") in (found[name] or "")
