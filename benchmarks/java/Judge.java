import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Compiles programs in memory and runs their `Main.main`, one after the other, in one warm machine.
 *
 * A request is a line: the seconds that the program has, a blank, and its source in Base64. The answer is a
 * line: passed, failed, late or uncompiled, a blank, and in Base64 what the compiler or the program said.
 */
public final class Judge {
    private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();
    private static final StandardJavaFileManager LIBRARY = COMPILER.getStandardFileManager(null, null, null);

    public static void main(String[] args) throws Exception {
        PrintStream answers = System.out;
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
        System.setOut(nowhere);
        System.setErr(nowhere);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            int blank = line.indexOf(' ');
            double seconds = Double.parseDouble(line.substring(0, blank));
            byte[] source = Base64.getDecoder().decode(line.substring(blank + 1));
            String[] verdict = judge(new String(source, StandardCharsets.UTF_8), seconds);
            byte[] said = verdict[1].getBytes(StandardCharsets.UTF_8);
            answers.println(verdict[0] + " " + Base64.getEncoder().encodeToString(said));
            answers.flush();
        }
    }

    private static String[] judge(String source, double seconds) throws Exception {
        DiagnosticCollector<JavaFileObject> said = new DiagnosticCollector<>();
        Memory memory = new Memory();
        List<String> options = List.of("-proc:none", "-nowarn", "-Xlint:none");
        if (!COMPILER.getTask(null, memory, said, options, null, List.of(new Source(source))).call()) {
            StringBuilder errors = new StringBuilder();
            for (Diagnostic<? extends JavaFileObject> one : said.getDiagnostics()) {
                if (one.getKind() == Diagnostic.Kind.ERROR) {
                    errors.append("line ").append(one.getLineNumber()).append(": ");
                    errors.append(one.getMessage(null)).append('\n');
                }
            }
            return new String[] {"uncompiled", errors.toString()};
        }
        return run(memory.loader(), seconds);
    }

    @SuppressWarnings({"deprecation", "removal"})
    private static String[] run(ClassLoader loader, double seconds) throws Exception {
        String[] verdict = {"failed", ""};
        Thread thread = new Thread(null, () -> {
            try {
                loader.loadClass("Main").getMethod("main", String[].class).invoke(null, (Object) new String[0]);
                verdict[0] = "passed";
            } catch (Throwable thrown) {
                Throwable cause = thrown.getCause() == null ? thrown : thrown.getCause();
                verdict[1] = cause.toString();
            }
        }, "program", 64L << 20);
        thread.setDaemon(true);
        thread.start();
        thread.join((long) (seconds * 1000));
        if (thread.isAlive()) {
            thread.stop();
            thread.join(1000);
            return new String[] {"late", "it did not end in " + seconds + " s"};
        }
        return verdict;
    }

    /** A source that stands in no file. */
    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String text) {
            super(URI.create("string:///Main.java"), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreErrors) {
            return text;
        }
    }

    /** Keeps what is compiled in memory, and loads classes from there. */
    private static final class Memory extends ForwardingJavaFileManager<JavaFileManager> {
        private final Map<String, ByteArrayOutputStream> classes = new HashMap<>();

        Memory() {
            super(LIBRARY);
        }

        @Override
        public JavaFileObject getJavaFileForOutput(
                Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            classes.put(name, bytes);
            return new SimpleJavaFileObject(URI.create("memory:///" + name.replace('.', '/')), kind) {
                @Override
                public OutputStream openOutputStream() {
                    return bytes;
                }
            };
        }

        ClassLoader loader() {
            return new ClassLoader(Judge.class.getClassLoader()) {
                @Override
                protected Class<?> findClass(String name) throws ClassNotFoundException {
                    ByteArrayOutputStream bytes = classes.get(name);
                    if (bytes == null) {
                        throw new ClassNotFoundException(name);
                    }
                    return defineClass(name, bytes.toByteArray(), 0, bytes.size());
                }
            };
        }
    }
}
