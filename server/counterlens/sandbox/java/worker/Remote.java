package counterlens.worker;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The program as its tests see it: the bodies of the stand-ins call these, and the program answers from its process. */
public final class Remote {
    private static final Map<String, Function<String, Throwable>> KNOWN = Map.ofEntries(
            Map.entry("java.lang.Exception", Exception::new),
            Map.entry("java.lang.RuntimeException", RuntimeException::new),
            Map.entry("java.lang.IllegalArgumentException", IllegalArgumentException::new),
            Map.entry("java.lang.IllegalStateException", IllegalStateException::new),
            Map.entry("java.lang.NullPointerException", NullPointerException::new),
            Map.entry("java.lang.ArithmeticException", ArithmeticException::new),
            Map.entry("java.lang.ClassCastException", ClassCastException::new),
            Map.entry("java.lang.NumberFormatException", NumberFormatException::new),
            Map.entry("java.lang.NegativeArraySizeException", NegativeArraySizeException::new),
            Map.entry("java.lang.ArrayStoreException", ArrayStoreException::new),
            Map.entry("java.lang.IndexOutOfBoundsException", IndexOutOfBoundsException::new),
            Map.entry("java.lang.ArrayIndexOutOfBoundsException", ArrayIndexOutOfBoundsException::new),
            Map.entry("java.lang.StringIndexOutOfBoundsException", StringIndexOutOfBoundsException::new),
            Map.entry("java.lang.UnsupportedOperationException", UnsupportedOperationException::new),
            Map.entry("java.lang.CloneNotSupportedException", CloneNotSupportedException::new),
            Map.entry("java.util.NoSuchElementException", java.util.NoSuchElementException::new),
            Map.entry("java.util.InputMismatchException", java.util.InputMismatchException::new),
            Map.entry("java.util.EmptyStackException", text -> new java.util.EmptyStackException()),
            Map.entry(
                    "java.util.ConcurrentModificationException", java.util.ConcurrentModificationException::new),
            Map.entry("java.io.IOException", IOException::new),
            Map.entry("java.lang.StackOverflowError", StackOverflowError::new),
            Map.entry("java.lang.OutOfMemoryError", OutOfMemoryError::new),
            Map.entry("java.lang.AssertionError", text -> text == null ? new AssertionError() : new AssertionError(text)));

    private static int calls;
    private static boolean changing;
    private static boolean nothing;
    private static String unpassable = "";
    private static boolean stopped;

    private Remote() {}

    /** An exception of the program that is none of the library's. */
    @SuppressWarnings("serial")
    public static final class Thrown extends RuntimeException {
        Thrown(String message) {
            super(message);
        }
    }

    /** The end of the tests: the program cannot be asked any more. */
    @SuppressWarnings("serial")
    static final class Stopped extends Error {
        Stopped(String message) {
            super(message, null, false, false);
        }
    }

    static void reset() {
        calls = 0;
        changing = false;
        nothing = false;
        stopped = false;
        unpassable = "";
    }

    static void report(Values.Writer answer) throws IOException {
        answer.out.writeInt(calls);
        answer.out.writeBoolean(changing);
        answer.out.writeBoolean(nothing);
        answer.text(unpassable);
    }

    /** Make an object of the program; gives its number there. */
    public static long construct(String type, String parameters, Object... arguments) {
        return (Long) call(type, "<init>", parameters, 0, arguments);
    }

    /** Call a method of the program, of an object by its number, or a static one by 0. */
    public static synchronized Object call(
            String type, String method, String parameters, long self, Object... arguments) {
        if (stopped) {
            throw new Stopped("the program had ended");
        }
        calls++;
        Object given;
        try {
            Values.Writer request = new Values.Writer(List.of());
            request.out.writeByte('K');
            request.text(type);
            request.text(method);
            request.text(parameters);
            request.out.writeLong(self);
            request.out.writeInt(arguments.length);
            for (Object argument : arguments) {
                request.write(argument);
            }
            Worker.send(request.bytes.toByteArray());
            given = answer(Worker.receive(), request.met, arguments, method);
        } catch (Values.Unpassable error) {
            stopped = true;
            unpassable = error.getMessage();
            throw new Stopped("a value of type " + error.getMessage() + " cannot be passed on");
        } catch (IOException error) {
            stopped = true;
            throw new Stopped(error.getMessage());
        }
        if (given instanceof Exceptional exceptional) {
            Remote.<RuntimeException>sneak(exceptional.error());
        }
        return given;
    }

    /** An exception of the program, made again here. */
    private record Exceptional(Throwable error) {}

    private static Object answer(byte[] frame, List<Object> given, Object[] arguments, String method) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(frame));
        int kind = in.readByte();
        if (kind == 'X') {
            stopped = true;
            throw new Stopped("the program had ended");
        }
        if (kind != 'V' && kind != 'T' && kind != 'E') {
            throw new IOException("an answer " + kind);
        }
        boolean changed = false;
        Values.Reader reader = new Values.Reader(in, given);
        Object value;
        try {
            Object[] fresh = new Object[given.size()];
            for (int at = 0; at < fresh.length; at++) {
                fresh[at] = reader.content(0);
            }
            value = kind == 'V' ? value(reader, arguments) : exceptional(reader);
            for (int at = 0; at < fresh.length; at++) {
                boolean full = !Values.empty(given.get(at));
                boolean different = Values.take(given.get(at), fresh[at]);
                changed |= different;
                changing |= different && full && Values.empty(given.get(at));
            }
        } catch (RuntimeException | LinkageError error) {
            throw new IOException("its answer is no plain data: " + error.getMessage());
        }
        if (value instanceof Exceptional) {
            return value;
        }
        if (value != null && !method.equals("<init>")) {
            changing |= changed;
        }
        nothing |= Values.empty(value);
        return value;
    }

    private static Exceptional exceptional(Values.Reader reader) throws IOException {
        String name = reader.text();
        String message = (String) reader.read();
        Function<String, Throwable> make = KNOWN.get(name);
        return new Exceptional(make == null ? new Thrown(message) : make.apply(message));
    }

    /** A value, or the very argument that the program gave back. */
    private static Object value(Values.Reader reader, Object[] arguments) throws IOException {
        int same = reader.in.readInt();
        return same < 0 ? reader.read() : arguments[same];
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable error) throws T {
        error.setStackTrace(new Throwable().getStackTrace());
        throw (T) error;
    }

    static boolean known(String name) {
        return KNOWN.containsKey(name);
    }
}
