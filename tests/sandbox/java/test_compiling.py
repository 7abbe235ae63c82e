"""The compiler of the worker runs nothing of the current folder, nor what a variable names."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from counterlens.errors import SandboxError
from counterlens.sandbox.java import machine
from counterlens.sandbox.java.machine import find_jdk, worker_classes

PROCESSOR = """
import java.util.Set;
import javax.annotation.processing.*;
import javax.lang.model.element.TypeElement;
public class Evil extends AbstractProcessor {
    public Evil() throws Exception { java.nio.file.Files.createFile(java.nio.file.Path.of("MARK")); }
    @Override public boolean process(Set<? extends TypeElement> types, RoundEnvironment round) {
        return false;
    }
}
"""


def test_a_processor_in_the_current_folder_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        kit = find_jdk()
    except SandboxError as error:
        pytest.skip(str(error))
    folder, sources, mark = tmp_path / "folder", tmp_path / "sources", tmp_path / "mark"
    services = folder / "META-INF" / "services"
    services.mkdir(parents=True)
    sources.mkdir()
    (folder / "Evil.java").write_text(PROCESSOR.replace("MARK", str(mark)))
    (sources / "Worker.java").write_text("public class Worker { @Deprecated void run() {} }\n")
    command = [str(kit.javac), "-nowarn", "-proc:none", "-d", str(folder), str(folder / "Evil.java")]
    subprocess.run(command, check=True, capture_output=True)
    (services / "javax.annotation.processing.Processor").write_text("Evil\n")
    monkeypatch.chdir(folder)
    subprocess.run([str(kit.javac), "-d", str(tmp_path), str(sources / "Worker.java")], check=False)
    assert mark.exists()  # a plain call runs it
    mark.unlink()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("CLASSPATH", str(folder))
    monkeypatch.setenv("JDK_JAVAC_OPTIONS", f"-processorpath {folder}")
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", f"-javaagent:{folder}/none.jar")  # would end it with an error
    monkeypatch.setattr(machine, "_SOURCES", sources)
    worker_classes.cache_clear()
    try:
        assert (worker_classes(kit) / "Worker.class").exists()
    finally:
        worker_classes.cache_clear()
    assert not mark.exists()
