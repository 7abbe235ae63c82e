package counterlens.worker;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
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
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/**
 * A JVM that waits in the sandbox, and handles requests over standard input and output.
 *
 * One JVM compiles and runs tests; others hold programs, and make the calls that the tests request. A frame is
 * four bytes with a length, followed by that number of bytes; the first of these is the kind of the frame.
 */
public final class Worker {
    private static final int LONGEST_MESSAGE = 2000;
    private static final List<File> JARS = jars();
    private static final ClassLoader LIBRARY = library(ClassLoader.getPlatformClassLoader());
    /** The loader of tests whose stand-ins send requests to the worker. */
    private static final ClassLoader BESIDE_WORKER = library(Worker.class.getClassLoader());
    private static DataInputStream requests;
    private static DataOutputStream replies;

    private Worker() {}

    /** Serve until standard input ends. */
    public static void main(String[] arguments) throws IOException {
        requests = new DataInputStream(new FileInputStream(FileDescriptor.in));
        replies = new DataOutputStream(new FileOutputStream(FileDescriptor.out));
        System.setIn(InputStream.nullInputStream());
        System.setErr(nowhere());
        Program program = null;
        Compiler compiler = null;
        while (true) {
            DataInputStream request = new DataInputStream(new ByteArrayInputStream(receive()));
            System.setOut(nowhere());
            switch (request.readByte()) {
                case 'C' -> {
                    compiler = compiler == null ? new Compiler() : compiler;
                    send(compiler.compile(request));
                }
                case 'R' -> send(tests(request, null));
                case 'S' -> send(tests(request, request.readNBytes(16)));
                case 'L' -> {
                    program = new Program(classes(request));
                    send(new byte[] {'l'});
                }
                case 'K' -> send(program.call(request));
                case 'P' -> send(program.print(request));
                case 'N' -> send(known(request));
                default -> throw new IOException("an unknown request");
            }
        }
    }

    /** The jars that programs and tests need besides the library of the JDK. */
    private static List<File> jars() {
        List<File> found = new ArrayList<>();
        for (String name : System.getProperty("counterlens.library", "").split(File.pathSeparator)) {
            if (!name.isEmpty()) {
                found.add(new File(name));
            }
        }
        return found;
    }

    private static ClassLoader library(ClassLoader parent) {
        if (JARS.isEmpty()) {
            return parent;
        }
        try {
            URL[] places = new URL[JARS.size()];
            for (int at = 0; at < places.length; at++) {
                places[at] = JARS.get(at).toURI().toURL();
            }
            return new URLClassLoader(places, parent);
        } catch (MalformedURLException error) {
            throw new IllegalStateException(error);
        }
    }

    /** Report for each of some classes whether the library has it. */
    private static byte[] known(DataInputStream in) throws IOException {
        Values.Reader reader = new Values.Reader(in, List.of());
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        for (int left = in.readInt(); left > 0; left--) {
            try {
                Class.forName(reader.text(), false, ClassLoader.getPlatformClassLoader());
                answer.write(1);
            } catch (ClassNotFoundException | LinkageError error) {
                answer.write(0);
            }
        }
        return answer.toByteArray();
    }

    static void send(byte[] frame) throws IOException {
        byte[] whole = new byte[frame.length + 4];
        for (int at = 0; at < 4; at++) {
            whole[at] = (byte) (frame.length >>> (24 - 8 * at));
        }
        System.arraycopy(frame, 0, whole, 4, frame.length);
        replies.write(whole);
    }

    static byte[] receive() throws IOException {
        byte[] frame = new byte[requests.readInt()];
        requests.readFully(frame);
        return frame;
    }

    private static PrintStream nowhere() {
        return new PrintStream(OutputStream.nullOutputStream());
    }

    private static Map<String, byte[]> classes(DataInputStream in) throws IOException {
        Map<String, byte[]> classes = new LinkedHashMap<>();
        for (int left = in.readInt(); left > 0; left--) {
            String name = new Values.Reader(in, List.of()).text();
            byte[] bytes = new byte[in.readInt()];
            in.readFully(bytes);
            classes.put(name, bytes);
        }
        return classes;
    }

    private static String described(Throwable error) {
        boolean told = error instanceof Remote.Thrown || error instanceof Remote.Stopped;
        String text = error.getClass().getName();
        try {
            String message = error.getMessage();
            text = told ? message : message == null ? text : text + ": " + message;
        } catch (Throwable hidden) {
            text += ", whose message cannot be read";
        }
        return text.length() > LONGEST_MESSAGE ? text.substring(0, LONGEST_MESSAGE) : text;
    }

    // Tests

    /** Run tests; `seal`, if any, is returned with the verdict. */
    private static byte[] tests(DataInputStream in, byte[] seal) throws IOException {
        ClassLoader parent = seal == null ? BESIDE_WORKER : LIBRARY;
        Map<String, byte[]> classes = classes(in);
        ClassLoader loader = new Memory(parent, classes);
        int threads = Thread.activeCount();
        Remote.reset();
        TestRun run = new TestRun();
        try {
            run.all(loader, classes.keySet());
        } catch (Throwable error) {
            run.fail("", error);
        }
        Values.Writer answer = new Values.Writer(List.of());
        answer.out.writeByte('D');
        if (seal != null) {
            answer.out.write(seal);
        }
        answer.out.writeBoolean(run.failed == null);
        answer.out.writeInt(run.tests);
        answer.text(run.failed == null ? "" : run.failed);
        answer.text(run.message);
        answer.out.writeBoolean(Thread.activeCount() > threads);
        Remote.report(answer);
        return answer.bytes.toByteArray();
    }

    /** The outcome of tests. */
    static final class TestRun {
        int tests;
        String failed;
        String message = "";

        void fail(String name, Throwable error) {
            Throwable cause = error;
            while (cause instanceof InvocationTargetException && cause.getCause() != null) {
                cause = cause.getCause();
            }
            failed = name;
            message = described(cause) + at(cause);
        }

        private static String at(Throwable error) {
            for (StackTraceElement place : error.getStackTrace()) {
                if (place.getFileName() != null && place.getFileName().startsWith("tests-")) {
                    return "\nline " + place.getLineNumber() + " of the tests";
                }
            }
            return "";
        }

        /** Run every `main` until one fails, and then the tests that JUnit finds. */
        void all(ClassLoader loader, Iterable<String> names) throws Exception {
            List<Class<?>> types = new ArrayList<>();
            for (String name : names) {
                types.add(Class.forName(name, false, loader));
            }
            for (Class<?> type : types) {
                Method main = main(type);
                if (main != null) {
                    main.setAccessible(true);
                    try {
                        main.invoke(null, (Object) new String[0]);
                        tests++;
                    } catch (Throwable error) {
                        fail(type.getName() + ".main", error);
                        return;
                    }
                }
            }
            if (!JARS.isEmpty()) {
                types.removeIf(type -> type.getName().contains("$"));
                JUnit.run(loader, types, this);
            }
        }

        private static Method main(Class<?> type) {
            try {
                Method found = type.getDeclaredMethod("main", String[].class);
                return Modifier.isStatic(found.getModifiers()) ? found : null;
            } catch (NoSuchMethodException error) {
                return null;
            }
        }
    }

    // Programs

    /** A loaded program, and the objects that its tests have created. */
    private static final class Program {
        private static final long MAIN_STACK = 64L << 20;
        private final ClassLoader loader;
        private final List<String> names;
        private final List<Object> objects = new ArrayList<>();
        private final Map<String, Executable> found = new HashMap<>();

        Program(Map<String, byte[]> classes) {
            loader = new Memory(LIBRARY, classes);
            names = List.copyOf(classes.keySet());
            objects.add(null);
        }

        byte[] call(DataInputStream in) throws IOException {
            Values.Reader reader = new Values.Reader(in, List.of());
            String type = reader.text();
            String name = reader.text();
            String parameters = reader.text();
            long self = in.readLong();
            Object[] arguments = new Object[in.readInt()];
            for (int at = 0; at < arguments.length; at++) {
                arguments[at] = reader.read();
            }
            try {
                Object value;
                try {
                    value = invoke(type, name, parameters, (int) self, arguments);
                } catch (Throwable error) {
                    return threw(reader.met, error);
                }
                return gave(reader.met, value, arguments);
            } catch (Values.Unpassable error) {
                Values.Writer answer = new Values.Writer(List.of());
                answer.out.writeByte('U');
                answer.text(error.getMessage());
                return answer.bytes.toByteArray();
            } catch (RuntimeException | Error error) { // such as a container that was changed in the meantime
                return threw(List.of(), error);
            }
        }

        /** Run its `main` on an input; the answer has its output, or the reason why it did not end normally. */
        byte[] print(DataInputStream in) throws IOException {
            byte[] given = new byte[in.readInt()];
            in.readFully(given);
            Printed printed = new Printed();
            System.setIn(new ByteArrayInputStream(given));
            System.setOut(new PrintStream(printed, false, StandardCharsets.UTF_8));
            Throwable[] error = new Throwable[1];
            ThreadGroup group = new ThreadGroup("program");
            Thread thread = new Thread(group, () -> error[0] = failure(), "main", MAIN_STACK);
            thread.start();
            finish(thread);
            Thread[] others = new Thread[64];
            for (int left = group.enumerate(others); left > 0; left--) {
                if (!others[left - 1].isDaemon()) {
                    finish(others[left - 1]);
                }
            }
            System.out.flush();
            System.setIn(InputStream.nullInputStream());
            Values.Writer answer = new Values.Writer(List.of());
            answer.out.writeByte('P');
            answer.out.writeBoolean(error[0] == null);
            answer.out.writeBoolean(printed.full);
            answer.text(error[0] == null ? "" : described(error[0]));
            byte[] whole = printed.bytes.toByteArray();
            answer.out.writeInt(whole.length);
            answer.out.write(whole);
            return answer.bytes.toByteArray();
        }

        private Throwable failure() {
            try {
                for (String name : names) {
                    Method main = TestRun.main(Class.forName(name, false, loader));
                    if (main != null) {
                        main.setAccessible(true);
                        main.invoke(null, (Object) new String[0]);
                        return null;
                    }
                }
                return new NoSuchMethodException("it has no method main");
            } catch (InvocationTargetException error) {
                return error.getCause();
            } catch (Throwable error) {
                return error;
            }
        }

        private static void finish(Thread thread) {
            try {
                thread.join();
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
            }
        }

        private Object invoke(String type, String name, String parameters, int self, Object[] arguments)
                throws Throwable {
            Executable called = find(type, name, parameters, arguments.length);
            try {
                if (called instanceof Constructor<?> constructor) {
                    objects.add(constructor.newInstance(arguments));
                    return (long) objects.size() - 1;
                }
                return ((Method) called).invoke(objects.get(self), arguments);
            } catch (InvocationTargetException error) {
                throw error.getCause();
            }
        }

        private Executable find(String type, String name, String parameters, int count) throws Exception {
            String key = type + " " + name + " " + parameters;
            Executable known = found.get(key);
            if (known == null) {
                Class<?> owner = Class.forName(type, true, loader);
                boolean made = name.equals("<init>");
                Executable[] all = made ? owner.getDeclaredConstructors() : owner.getDeclaredMethods();
                List<Executable> fitting = new ArrayList<>();
                for (Executable each : all) {
                    boolean named = made || each.getName().equals(name);
                    if (named && each.getParameterCount() == count && !each.isSynthetic()) {
                        fitting.add(each);
                    }
                }
                if (fitting.size() > 1) {
                    fitting.removeIf(each -> !simple(each).equals(parameters));
                }
                if (fitting.size() != 1) {
                    throw new NoSuchMethodException(key);
                }
                known = fitting.get(0);
                known.setAccessible(true);
                found.put(key, known);
            }
            return known;
        }

        private static String simple(Executable each) {
            List<String> names = new ArrayList<>();
            for (Class<?> parameter : each.getParameterTypes()) {
                names.add(parameter.getSimpleName());
            }
            return String.join(",", names);
        }

        /** The current contents of the passed containers, and a value or the number of the argument that it is. */
        private static byte[] gave(List<Object> given, Object value, Object[] arguments) throws IOException {
            Values.Writer answer = contents('V', given);
            int same = -1;
            for (int at = 0; at < arguments.length; at++) {
                same = value != null && value == arguments[at] ? at : same;
            }
            answer.out.writeInt(same);
            if (same < 0) {
                answer.write(value);
            }
            return answer.bytes.toByteArray();
        }

        private static byte[] threw(List<Object> given, Throwable error) throws IOException {
            Class<?> type = error.getClass();
            while (type != null && !Remote.known(type.getName())) {
                type = type.getSuperclass();
            }
            Values.Writer answer = contents(serious(error) ? 'E' : 'T', given);
            boolean exactly = type == error.getClass();
            answer.text(type == null ? "" : type.getName());
            answer.write(exactly ? error.getMessage() : described(error));
            answer.text(error.getClass().getName());
            return answer.bytes.toByteArray();
        }

        /** Whether it may have left classes of the library partly initialised. */
        private static boolean serious(Throwable error) {
            Throwable cause = error;
            for (int depth = 0; cause != null && depth < 20; depth++) {
                if (cause instanceof LinkageError || cause instanceof VirtualMachineError) {
                    return true;
                }
                cause = cause.getCause();
            }
            return false;
        }

        private static Values.Writer contents(char kind, List<Object> given) throws IOException {
            Values.Writer answer = new Values.Writer(given);
            answer.out.writeByte(kind);
            for (Object each : given) {
                answer.content(each, 0);
            }
            return answer;
        }
    }

    /** Keeps the output of a program, up to a limit. */
    private static final class Printed extends OutputStream {
        private static final int MOST = 4 << 20;
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        boolean full;

        @Override
        public synchronized void write(int one) {
            write(new byte[] {(byte) one}, 0, 1);
        }

        @Override
        public synchronized void write(byte[] some, int from, int count) {
            int fitting = Math.min(count, MOST - bytes.size());
            bytes.write(some, from, fitting);
            full |= fitting < count;
        }
    }

    /** Loads classes from memory. */
    private static final class Memory extends ClassLoader {
        private final Map<String, byte[]> classes;

        Memory(ClassLoader parent, Map<String, byte[]> classes) {
            super(parent);
            this.classes = classes;
            setDefaultAssertionStatus(true);
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            byte[] bytes = classes.get(name);
            if (bytes == null) {
                throw new ClassNotFoundException(name);
            }
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    // The compiler

    /** The compiler, kept warm. */
    private static final class Compiler {
        private final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        private final StandardJavaFileManager alone = library(JARS);
        private final StandardJavaFileManager withWorker = library(withWorker());

        private static List<File> withWorker() {
            List<File> path = new ArrayList<>(JARS);
            path.add(new File(System.getProperty("java.class.path")));
            return path;
        }

        private StandardJavaFileManager library(List<File> path) {
            StandardJavaFileManager made = compiler.getStandardFileManager(null, Locale.ROOT, null);
            try {
                made.setLocation(StandardLocation.CLASS_PATH, path);
            } catch (IOException error) {
                throw new IllegalStateException(error);
            }
            return made;
        }

        /** Compile units of source; the answer has classes, or the errors. */
        byte[] compile(DataInputStream in) throws IOException {
            boolean tests = in.readBoolean();
            Values.Reader reader = new Values.Reader(in, List.of());
            List<Source> units = new ArrayList<>();
            for (int left = in.readInt(); left > 0; left--) {
                units.add(new Source(reader.text(), reader.text()));
            }
            Values.Writer answer = new Values.Writer(List.of());
            DiagnosticCollector<JavaFileObject> said = new DiagnosticCollector<>();
            Output output = new Output(tests ? withWorker : alone);
            List<String> options = List.of("-proc:none", "-nowarn", "-Xlint:none", "-g:source,lines");
            boolean right;
            try {
                right = compiler.getTask(null, output, said, options, null, units).call();
            } catch (RuntimeException | StackOverflowError error) { // a defect of the compiler
                right = false;
            }
            answer.out.writeByte(right ? 'c' : 'e');
            if (!right) {
                answer.text(errors(said));
                return answer.bytes.toByteArray();
            }
            answer.out.writeInt(output.classes.size());
            for (Map.Entry<String, ByteArrayOutputStream> each : output.classes.entrySet()) {
                answer.text(each.getKey());
                answer.out.writeInt(each.getValue().size());
                each.getValue().writeTo(answer.out);
            }
            return answer.bytes.toByteArray();
        }

        private static String errors(DiagnosticCollector<JavaFileObject> said) {
            StringBuilder errors = new StringBuilder();
            for (Diagnostic<? extends JavaFileObject> one : said.getDiagnostics()) {
                if (one.getKind() == Diagnostic.Kind.ERROR && errors.length() < LONGEST_MESSAGE) {
                    errors.append("line ").append(one.getLineNumber()).append(": ");
                    errors.append(one.getMessage(Locale.ROOT)).append('\n');
                }
            }
            return errors.length() == 0 ? "it is too deeply nested to be compiled" : errors.toString().strip();
        }
    }

    /** A source that is not in a file. */
    private static final class Source extends SimpleJavaFileObject {
        private final String name;
        private final String text;

        Source(String name, String text) {
            super(URI.create("string:///" + name), Kind.SOURCE);
            this.name = name;
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreErrors) {
            return text;
        }

        @Override
        public boolean isNameCompatible(String simpleName, Kind kind) {
            return true; // a public class may be in a file with any name
        }

        @Override
        public String getName() {
            return name;
        }
    }

    /** Keeps the compiled classes. */
    private static final class Output extends ForwardingJavaFileManager<JavaFileManager> {
        final Map<String, ByteArrayOutputStream> classes = new LinkedHashMap<>();

        Output(JavaFileManager library) {
            super(library);
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
    }
}
