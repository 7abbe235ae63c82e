package counterlens.worker;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * A JVM that waits in the sandbox, and handles requests over standard input and output.
 *
 * One JVM compiles; each of the others runs one program, together with its tests or call by call. A frame is four
 * bytes with a length, followed by that number of bytes; the first of these is the kind of the frame.
 *
 * The pipes and the seal of a verdict are in local variables only, where the reflection of a program does not reach.
 */
public final class Worker {
    static final int LONGEST_MESSAGE = 2000;
    private static final long DEFAULT_STACK = 0;
    static final List<File> JARS = jars();
    private static final ClassLoader LIBRARY = library(ClassLoader.getPlatformClassLoader());

    private Worker() {}

    /** Serve until standard input ends. */
    public static void main(String[] arguments) throws IOException {
        DataInputStream requests = new DataInputStream(new FileInputStream(FileDescriptor.in));
        FileOutputStream replies = new FileOutputStream(FileDescriptor.out);
        System.setIn(InputStream.nullInputStream());
        System.setErr(nowhere());
        Program program = null;
        Compiler compiler = null;
        while (true) {
            byte[] frame = new byte[requests.readInt()];
            requests.readFully(frame);
            DataInputStream request = new DataInputStream(new ByteArrayInputStream(frame));
            System.setOut(nowhere());
            byte[] answer;
            switch (request.readByte()) {
                case 'C' -> {
                    compiler = compiler == null ? new Compiler() : compiler;
                    answer = compiler.compile(request);
                }
                case 'S' -> answer = tests(request);
                case 'L' -> {
                    program = new Program(new Memory(LIBRARY, classes(request)));
                    answer = new byte[] {'l'};
                }
                case 'K' -> answer = program.call(request);
                case 'P' -> answer = program.print(request);
                default -> throw new IOException("an unknown request");
            }
            replies.write(framed(answer));
        }
    }

    private static byte[] framed(byte[] answer) {
        byte[] whole = new byte[answer.length + 4];
        for (int at = 0; at < 4; at++) {
            whole[at] = (byte) (answer.length >>> (24 - 8 * at));
        }
        System.arraycopy(answer, 0, whole, 4, answer.length);
        return whole;
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

    static PrintStream nowhere() {
        return new PrintStream(OutputStream.nullOutputStream());
    }

    private static Map<String, byte[]> classes(DataInputStream in) throws IOException {
        Map<String, byte[]> classes = new LinkedHashMap<>();
        for (int left = in.readInt(); left > 0; left--) {
            String name = text(in);
            byte[] bytes = new byte[in.readInt()];
            in.readFully(bytes);
            classes.put(name, bytes);
        }
        return classes;
    }

    private static List<String> texts(DataInputStream in) throws IOException {
        List<String> texts = new ArrayList<>();
        for (int left = in.readInt(); left > 0; left--) {
            texts.add(text(in));
        }
        return texts;
    }

    /** A string of any length, also with unpaired surrogates. */
    static String text(DataInputStream in) throws IOException {
        char[] characters = new char[in.readInt()];
        for (int at = 0; at < characters.length; at++) {
            characters[at] = in.readChar();
        }
        return new String(characters);
    }

    static String described(Throwable error) {
        String text = error.getClass().getName();
        try {
            String message = error.getMessage();
            text = message == null ? text : text + ": " + message;
        } catch (Throwable hidden) {
            text += ", whose message cannot be read";
        }
        return text.length() > LONGEST_MESSAGE ? text.substring(0, LONGEST_MESSAGE) : text;
    }

    // Tests

    /** Run tests together with their program; the seal of the request is returned with the verdict. */
    private static byte[] tests(DataInputStream in) throws IOException {
        byte[] seal = in.readNBytes(16);
        List<String> names = texts(in);
        ClassLoader loader = new Memory(LIBRARY, classes(in));
        TestRun run = new TestRun();
        asMain(loader, () -> {
            try {
                run.all(loader, names);
            } catch (Throwable error) {
                run.fail("", error);
            }
        }, () -> run.failed == null && run.mains, DEFAULT_STACK);
        Values.Writer answer = new Values.Writer();
        answer.out.writeByte('D');
        answer.out.write(seal);
        answer.out.writeBoolean(run.failed == null);
        answer.out.writeBoolean(run.serious);
        answer.out.writeInt(run.tests);
        answer.text(run.failed == null ? "" : run.failed);
        answer.text(run.message);
        return answer.bytes.toByteArray();
    }

    /**
     * Run something in a thread like the main thread of a plain JVM. If it says so at its end, its threads are
     * awaited, except daemons.
     */
    static void asMain(ClassLoader loader, Runnable body, BooleanSupplier awaited, long stack) {
        ThreadGroup group = new ThreadGroup("main");
        Thread thread = new Thread(group, body, "main", stack);
        thread.setContextClassLoader(loader);
        thread.start();
        finish(thread);
        if (!awaited.getAsBoolean()) {
            return;
        }
        Thread[] others = new Thread[256];
        for (boolean more = true; more; ) {
            more = false;
            for (int left = group.enumerate(others); left > 0; left--) {
                if (!others[left - 1].isDaemon()) {
                    finish(others[left - 1]);
                    more = true;
                }
            }
        }
    }

    private static void finish(Thread thread) {
        while (true) {
            try {
                thread.join();
                return;
            } catch (InterruptedException error) {
                // a program cannot stop the worker
            }
        }
    }

    /** The outcome of tests. */
    static final class TestRun {
        int tests;
        boolean mains;
        boolean serious;
        String failed;
        String message = "";

        void fail(String name, Throwable error) {
            Throwable cause = error;
            while (cause instanceof InvocationTargetException && cause.getCause() != null) {
                cause = cause.getCause();
            }
            failed = name;
            serious = Program.serious(cause);
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
                    main.setAccessible(true); // its class need not be public
                    mains = true;
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
                JUnit.run(loader, types, this);
            }
        }

        static Method main(Class<?> type) {
            try {
                Method found = type.getDeclaredMethod("main", String[].class);
                boolean started = Modifier.isStatic(found.getModifiers()) && Modifier.isPublic(found.getModifiers());
                return started ? found : null;
            } catch (NoSuchMethodException error) {
                return null;
            }
        }
    }

    /** Loads classes from memory. */
    static final class Memory extends ClassLoader {
        final Map<String, byte[]> classes;

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
}
