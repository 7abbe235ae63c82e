package counterlens.worker;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;

/** A loaded program, of which a method is called, or which runs with an input. */
final class Program {
    private static final long DEEP_STACK = 64L << 20;
    private final Worker.Memory loader;

    Program(Worker.Memory loader) {
        this.loader = loader;
    }

    /** Call a static method without parameters; the answer has its result, or what it threw. */
    byte[] call(DataInputStream request) throws IOException {
        String type = Worker.text(request);
        String name = Worker.text(request);
        try {
            Object value;
            try {
                Method called = Class.forName(type, true, loader).getDeclaredMethod(name);
                called.setAccessible(true);
                value = called.invoke(null);
            } catch (InvocationTargetException error) {
                return threw(error.getCause());
            }
            Values.Writer answer = new Values.Writer();
            answer.out.writeByte('V');
            answer.write(value);
            return answer.bytes.toByteArray();
        } catch (Values.Unpassable error) {
            return new byte[] {'U'};
        } catch (ReflectiveOperationException | RuntimeException | Error error) { // the last two: a container that changes
            return threw(error);
        }
    }

    private static byte[] threw(Throwable error) throws IOException {
        Values.Writer answer = new Values.Writer();
        answer.out.writeByte(serious(error) ? 'E' : 'T');
        answer.text(error.getClass().getName());
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
