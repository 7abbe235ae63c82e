package counterlens.worker;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.List;

/** The access of tests to the program: the bodies of the stand-ins call it, and it sends requests to its process. */
public final class Remote {
    private static int calls;
    private static boolean changing;
    private static boolean nothing;
    private static boolean strange;
    private static boolean raised;
    private static String unpassable = "";
    private static boolean stopped;

    private Remote() {}

    /** An exception of the program whose class is not the library's. */
    @SuppressWarnings("serial")
    public static final class Thrown extends RuntimeException {
        Thrown(String message) {
            super(message);
        }
    }

    /** The program is no longer available, which ends the tests. */
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
        strange = false;
        raised = false;
        stopped = false;
        unpassable = "";
    }

    static void report(Values.Writer answer) throws IOException {
        answer.out.writeInt(calls);
        answer.out.writeBoolean(changing);
        answer.out.writeBoolean(nothing);
        answer.out.writeBoolean(strange);
        answer.out.writeBoolean(raised);
        answer.text(unpassable);
    }

    /** Create an object in the program's process; returns its number there. */
    public static long construct(String type, String parameters, Object... arguments) {
        return (Long) call(type, "<init>", parameters, 0, arguments);
    }

    /** Call a method of the program: of the object with a number, or a static one if the number is 0. */
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

    /** An exception of the program, recreated in this process. */
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
            throw new IOException("its answer is not plain data: " + error.getMessage());
        }
        if (value instanceof Exceptional) {
            raised = true;
            return value;
        }
        if (value != null && !method.equals("<init>")) {
            changing |= changed;
        }
        nothing |= Values.hollow(value, 0);
        strange |= Values.strange(value, 0);
        return value;
    }

    private static Exceptional exceptional(Values.Reader reader) throws IOException {
        String name = reader.text();
        String message = (String) reader.read();
        Throwable made = made(name, message);
        return new Exceptional(made == null ? new Thrown(message) : made);
    }

    /** A value, or the same object as the argument that the program returned. */
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
        return made(name, null) != null;
    }

    /** An exception of the library; null if its class is unknown. */
    private static Throwable made(String name, String text) {
        return switch (name) {
            case "java.lang.Exception" -> new Exception(text);
            case "java.lang.RuntimeException" -> new RuntimeException(text);
            case "java.lang.IllegalArgumentException" -> new IllegalArgumentException(text);
            case "java.lang.IllegalStateException" -> new IllegalStateException(text);
            case "java.lang.NullPointerException" -> new NullPointerException(text);
            case "java.lang.ArithmeticException" -> new ArithmeticException(text);
            case "java.lang.ClassCastException" -> new ClassCastException(text);
            case "java.lang.NumberFormatException" -> new NumberFormatException(text);
            case "java.lang.NegativeArraySizeException" -> new NegativeArraySizeException(text);
            case "java.lang.ArrayStoreException" -> new ArrayStoreException(text);
            case "java.lang.IndexOutOfBoundsException" -> new IndexOutOfBoundsException(text);
            case "java.lang.ArrayIndexOutOfBoundsException" -> new ArrayIndexOutOfBoundsException(text);
            case "java.lang.StringIndexOutOfBoundsException" -> new StringIndexOutOfBoundsException(text);
            case "java.lang.UnsupportedOperationException" -> new UnsupportedOperationException(text);
            case "java.lang.CloneNotSupportedException" -> new CloneNotSupportedException(text);
            case "java.util.NoSuchElementException" -> new java.util.NoSuchElementException(text);
            case "java.util.InputMismatchException" -> new java.util.InputMismatchException(text);
            case "java.util.EmptyStackException" -> new java.util.EmptyStackException();
            case "java.util.ConcurrentModificationException" -> new java.util.ConcurrentModificationException(text);
            case "java.io.IOException" -> new IOException(text);
            case "java.lang.StackOverflowError" -> new StackOverflowError(text);
            case "java.lang.OutOfMemoryError" -> new OutOfMemoryError(text);
            case "java.lang.AssertionError" -> text == null ? new AssertionError() : new AssertionError(text);
            default -> null;
        };
    }
}
