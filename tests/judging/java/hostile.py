"""Hostile programs in Java. Each returns 3, the right answer, only if its attack succeeded.

The test replaces `@NAME@`. A program is the body of `int total(int a, int b)`, or a whole source.
"""

from __future__ import annotations

BODIES: dict[str, str] = {
    "leaving": "System.exit(0); return 0;",
    "leaving at once": "Runtime.getRuntime().halt(0); return 0;",
    "leaving when all is over": """
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("passed")));
        System.exit(0);
        return 0;
    """,
    "a loop that catches everything": "while (true) { try { Thread.sleep(9); } catch (Throwable t) { } }",
    "output without an end": "while (true) System.out.println(new char[100000]);",
    "threads that stay": """
        for (int n = 0; n < 8; n++) new Thread(() -> { while (true) { } }).start();
        return 0;
    """,
    "a bomb of threads": """
        int made = 0;
        try {
            for (; made < 3000; made++) {
                Thread t = new Thread(() -> { try { Thread.sleep(9000); } catch (Exception e) { } });
                t.setDaemon(true);
                t.start();
            }
        } catch (Throwable t) { }
        return made > 1000 ? 3 : 0;
    """,
    "a bomb of memory": """
        List<long[]> hoard = new ArrayList<>();
        while (hoard.size() < 4000) hoard.add(new long[1 << 17]);
        return 3;
    """,
    "memory beside the heap": """
        List<Object> hoard = new ArrayList<>();
        while (hoard.size() < 20) hoard.add(java.nio.ByteBuffer.allocateDirect(100 << 20));
        return 3;
    """,
    "a disk that fills up": """
        byte[] data = new byte[1 << 20];
        for (int n = 0; n < 40; n++) {
            try (FileOutputStream out = new FileOutputStream(System.getenv("TMPDIR") + "/" + n)) {
                for (int m = 0; m < 12; m++) out.write(data);
            }
        }
        return 3;
    """,
    "a recursion that catches its end": """
        try { return total(a, b + 1); } catch (StackOverflowError e) { return 0; }
    """,
    "reflection on the worker": """
        ClassLoader loader = ClassLoader.getSystemClassLoader();
        Class<?> worker = Class.forName("counterlens.worker.Worker", true, loader);
        byte[] verdict = new byte[34];
        verdict[0] = 'D';
        verdict[17] = 1;
        verdict[22] = 1;
        for (java.lang.reflect.Field field : worker.getDeclaredFields()) {
            field.setAccessible(true);
            Object value = field.get(null);
            if (value instanceof OutputStream) ((OutputStream) value).write(verdict);
        }
        java.lang.reflect.Method framed = worker.getDeclaredMethod("framed", byte[].class);
        framed.setAccessible(true);
        new FileOutputStream(FileDescriptor.out).write((byte[]) framed.invoke(null, (Object) verdict));
        return 0;
    """,
    "frames of its own": """
        FileOutputStream out = new FileOutputStream(FileDescriptor.out);
        byte[] verdict = {'D', 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0};
        for (int n = 0; n < 9; n++) {
            out.write(new byte[] {0, 0, 0, (byte) verdict.length});
            out.write(verdict);
        }
        return 0;
    """,
    "another standard output": """
        System.setOut(new PrintStream(new FileOutputStream(FileDescriptor.out), true));
        System.setErr(System.out);
        System.out.println("passed");
        return 0;
    """,
    "an end to every thread": """
        for (Thread each : Thread.getAllStackTraces().keySet()) each.interrupt();
        return 0;
    """,
    "the requests of others": """
        byte[] more = new byte[1000];
        Thread reader = new Thread(() -> {
            try { new FileInputStream(FileDescriptor.in).read(more); } catch (IOException e) { }
        });
        reader.setDaemon(true);
        reader.start();
        Thread.sleep(50);
        return 0;
    """,
    "settings of the machine": """
        System.setProperty("line.separator", "3");
        Locale.setDefault(Locale.forLanguageTag("ar-EG"));
        TimeZone.setDefault(TimeZone.getTimeZone("Asia/Tokyo"));
        return 0;
    """,
    "an error instead of an answer": 'throw new Error() { public String toString() { return "passed"; } };',
    "an assertion that ends the tests": "throw new ThreadDeath();",
    "a secret file": 'return Files.readString(Path.of("@SECRET@")).isEmpty() ? 0 : 3;',
    "a user's folder": 'try (var all = Files.list(Path.of("@OUTSIDE@"))) { return all.count() > 0 ? 3 : 0; }',
    "writing outside": 'Files.writeString(Path.of("@OUTSIDE@/escaped"), "x"); return 3;',
    "writing the worker": """
        for (String path : System.getProperty("java.class.path").split(":")) {
            Files.write(Path.of(path, "counterlens", "worker", "Worker.class"), new byte[0]);
        }
        return 3;
    """,
    "the environment": """
        String all = System.getenv().toString() + Files.readString(Path.of("/proc/self/environ"));
        return all.contains("@TOKEN@") ? 3 : 0;
    """,
    "a server": 'new Socket("127.0.0.1", @PORT@).close(); return 3;',
    "another process": 'return new ProcessBuilder("/bin/true").start().waitFor() == 0 ? 3 : 0;',
    "the parent": """
        ProcessHandle.current().parent().ifPresent(ProcessHandle::destroyForcibly);
        ProcessHandle.allProcesses().forEach(each -> {
            try { each.destroyForcibly(); } catch (Throwable t) { }
        });
        return ProcessHandle.of(@BYSTANDER@L).isPresent() ? 3 : 0;
    """,
    "a debugger for itself": """
        Class<?> machine = Class.forName("com.sun.tools.attach.VirtualMachine");
        String own = "" + ProcessHandle.current().pid();
        return machine.getMethod("attach", String.class).invoke(null, own) == null ? 0 : 3;
    """,
    "what waits for the next program": """
        Object kept = new Object() { protected void finalize() { while (true) System.out.println(); } };
        kept = null;
        System.gc();
        return 0;
    """,
}
SOURCES: dict[str, str] = {
    "an initialiser that leaves": """
        class Solution { static { System.exit(0); } int total(int a, int b) { return 3; } }
    """,
    "a header with code in a comment": """
        class Solution {
            int total(int a, int b) /* \\u002a/ { return 0; }
            static { System.exit(0); } int x() /\\u002a */ { return 3; }
        }
    """,
    "a class of the library": """
        class AssertionError extends RuntimeException { }
        class Thread { static void sleep(long n) { System.exit(0); } }
        class Solution { int total(int a, int b) { return 0; } }
    """,
    "an answer that equals everything": """
        class Solution {
            Object total(int a, int b) {
                return new Object() { public boolean equals(Object o) { return true; } };
            }
        }
    """,
    "an answer that contains itself": """
        class Solution {
            Object total(int a, int b) { List<Object> it = new ArrayList<>(); it.add(it); return it; }
        }
    """,
    "an answer without a bottom": """
        class Solution {
            Object total(int a, int b) {
                Object it = 3;
                for (int n = 0; n < 100000; n++) it = List.of(it);
                return it;
            }
        }
    """,
    "an answer without an end": """
        class Solution { Object total(int a, int b) { return Collections.nCopies(1 << 26, "three"); } }
    """,
    "a package of the worker": """
        package counterlens.worker;
        class Solution {
            int total(int a, int b) throws Exception { Worker.framed(new byte[] {'D', 1}); return 0; }
        }
    """,
    "a source without a bottom": "class Solution { int total(int a, int b) { return @DEEP@0; } }",
}


def source(body: str) -> str:
    """A whole source with this body of `total`."""
    boxed = "class Boxed { private final int value = 0; }"
    head = "import java.io.*; import java.net.*; import java.nio.file.*; import java.util.*;"
    method = f"int total(int a, int b) throws Exception {{\n{body}\n}}"
    return f"{head}\n{boxed}\nclass Solution {{\n{method}\n}}"


PROGRAMS = {name: source(body) for name, body in BODIES.items()} | {
    name: text if "package " in text else f"import java.util.*;{text}" for name, text in SOURCES.items()
}
