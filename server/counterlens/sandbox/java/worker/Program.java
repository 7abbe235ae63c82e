package counterlens.worker;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A loaded program, which is called method by method, or run with an input. */
final class Program {
    private static final long DEEP_STACK = 64L << 20;
    private final Worker.Memory loader;
    private final Map<String, Executable> found = new HashMap<>();
    private Object receiver;
    private Object[] arguments = {};
    private Object value;

    Program(Worker.Memory loader) {
        this.loader = loader;
    }

    /** Call a method once, on a new object if it needs one. */
    byte[] call(byte[] request) throws IOException {
        receiver = null;
        return called(request);
    }

    /**
     * Call a method twice with equal arguments, on the same object. The answer has both results, and what the first
     * call left behind besides its result. Between the calls, the first result and arguments are emptied, which a
     * method notices that keeps them.
     */
    byte[] observe(byte[] request) throws IOException {
        receiver = null;
        Surroundings before = new Surroundings();
        byte[] first = called(request);
        List<String> effects = before.effects();
        byte[] second = {};
        if (first[0] != 'E') {
            for (Object each : arguments) {
                empty(each);
            }
            empty(value);
            System.setOut(Worker.nowhere());
            System.setErr(Worker.nowhere());
            second = called(request);
        }
        new Surroundings().restore(before);
        Values.Writer answer = new Values.Writer();
        answer.out.writeInt(first.length);
        answer.out.write(first);
        answer.out.writeInt(effects.size());
        for (String effect : effects) {
            answer.text(effect);
        }
        answer.out.write(second);
        return answer.bytes.toByteArray();
    }

    private byte[] called(byte[] request) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(request, 1, request.length - 1));
        Values.Reader reader = new Values.Reader(in);
        String type = reader.text();
        String name = reader.text();
        String parameters = reader.text();
        boolean onObject = in.readBoolean();
        String maker = reader.text();
        int made = in.readInt();
        arguments = new Object[in.readInt()];
        for (int at = 0; at < arguments.length; at++) {
            arguments[at] = reader.read();
        }
        value = null;
        try {
            try {
                if (onObject && receiver == null) {
                    receiver = invoke(find(type, "<init>", maker, made), null, Arrays.copyOf(arguments, made));
                }
                Object[] given = Arrays.copyOfRange(arguments, made, arguments.length);
                value = invoke(find(type, name, parameters, given.length), receiver, given);
            } catch (Throwable error) {
                return threw(reader.met, error);
            }
            return gave(reader.met);
        } catch (Values.Unpassable error) {
            Values.Writer answer = new Values.Writer();
            answer.out.writeByte('U');
            answer.text(error.getMessage());
            return answer.bytes.toByteArray();
        } catch (RuntimeException | Error error) { // such as a container that was changed in the meantime
            return threw(List.of(), error);
        }
    }

    private static Object invoke(Executable called, Object self, Object... arguments) throws Throwable {
        try {
            if (called instanceof Constructor<?> constructor) {
                return constructor.newInstance(arguments);
            }
            return ((Method) called).invoke(self, arguments);
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
    private byte[] gave(List<Object> given) throws IOException {
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
        Values.Writer answer = contents(serious(error) ? 'E' : 'T', given);
        answer.text(error.getClass().getName());
        answer.text(Worker.described(error));
        return answer.bytes.toByteArray();
    }

    /** Whether it may have left classes of the library partly initialised. */
    static boolean serious(Throwable error) {
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

    /** Empty a container, or set the items of an array to zero or null. */
    private static void empty(Object container) {
        try {
            if (container instanceof Collection<?> items) {
                items.clear();
            } else if (container instanceof Map<?, ?> map) {
                map.clear();
            } else if (container instanceof StringBuilder text) {
                text.setLength(0);
            } else if (container != null && container.getClass().isArray()) {
                int length = Array.getLength(container);
                Object blank = Array.newInstance(container.getClass().getComponentType(), length);
                System.arraycopy(blank, 0, container, 0, length);
            }
        } catch (RuntimeException error) {
            // it cannot be changed, so nobody notices
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
        Worker.asMain(loader, () -> error[0] = failure(), () -> true, DEEP_STACK);
        System.out.flush();
        System.setIn(InputStream.nullInputStream());
        Values.Writer answer = new Values.Writer();
        answer.out.writeByte('P');
        answer.out.writeBoolean(error[0] == null);
        answer.out.writeBoolean(printed.full);
        answer.text(error[0] == null ? "" : Worker.described(error[0]));
        byte[] whole = printed.bytes.toByteArray();
        answer.out.writeInt(whole.length);
        answer.out.write(whole);
        return answer.bytes.toByteArray();
    }

    private Throwable failure() {
        try {
            for (String name : loader.classes.keySet()) {
                Class<?> type = Class.forName(name, false, loader);
                Method main = Worker.TestRun.main(type);
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

    /** Keeps the output of a program, up to a limit. */
    static final class Printed extends OutputStream {
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
}
