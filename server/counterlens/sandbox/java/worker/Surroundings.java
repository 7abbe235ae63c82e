package counterlens.worker;

import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TimeZone;
import java.util.TreeSet;
import java.util.concurrent.ForkJoinWorkerThread;

/** What a call can change besides its arguments: output, properties, defaults, threads. */
final class Surroundings {
    private static final int LONGEST = 200;
    private static final long PATIENCE = 500_000_000; // nanoseconds for the threads of a call to end
    private final Program.Printed printed = new Program.Printed();
    private final Program.Printed complained = new Program.Printed();
    private final PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);
    private final PrintStream err = new PrintStream(complained, true, StandardCharsets.UTF_8);
    private final InputStream in = System.in;
    private final Locale locale = Locale.getDefault();
    private final TimeZone zone = TimeZone.getDefault(); // sets a property when it is first read
    private final Map<Object, Object> properties = new HashMap<>(System.getProperties());
    private final Thread.UncaughtExceptionHandler handler = Thread.getDefaultUncaughtExceptionHandler();
    private final Set<Thread> threads = threads();

    /** Keep the present state, and collect output from now on. */
    Surroundings() {
        System.setOut(out);
        System.setErr(err);
        Thread.interrupted();
    }

    /** Describe what has changed since. */
    List<String> effects() {
        List<String> effects = new ArrayList<>();
        if (Thread.interrupted()) {
            effects.add("leaves its thread interrupted");
        }
        int left = left();
        if (left > 0) {
            effects.add("leaves " + left + (left == 1 ? " thread" : " threads") + " running");
        }
        tell(effects, "prints ", printed);
        tell(effects, "prints to standard error ", complained);
        if (System.out != out || System.err != err || System.in != in) {
            effects.add("replaces a standard stream");
        }
        Map<Object, Object> now = new HashMap<>(System.getProperties());
        Set<String> names = new TreeSet<>();
        for (Object name : now.keySet()) {
            names.add(String.valueOf(name));
        }
        for (Object name : properties.keySet()) {
            names.add(String.valueOf(name));
        }
        for (String name : names) {
            Object value = now.get(name);
            if (value == null ? properties.containsKey(name) : !value.equals(properties.get(name))) {
                effects.add(value == null ? "removes the property " + name : "sets the property " + name + " to " + value);
            }
        }
        if (!Locale.getDefault().equals(locale)) {
            effects.add("changes the default locale to " + Locale.getDefault());
        }
        if (!TimeZone.getDefault().equals(zone)) {
            effects.add("changes the default time zone to " + TimeZone.getDefault().getID());
        }
        if (Thread.getDefaultUncaughtExceptionHandler() != handler) {
            effects.add("replaces the handler of uncaught exceptions");
        }
        return effects;
    }

    /** Go back to an earlier state. */
    void restore(Surroundings before) {
        before.left();
        Thread.interrupted();
        System.setOut(Worker.nowhere());
        System.setErr(Worker.nowhere());
        System.setIn(before.in);
        if (!properties.equals(before.properties)) {
            System.getProperties().clear();
            System.getProperties().putAll(before.properties);
        }
        Locale.setDefault(before.locale);
        TimeZone.setDefault(before.zone);
        Thread.setDefaultUncaughtExceptionHandler(before.handler);
    }

    private static void tell(List<String> effects, String what, Program.Printed output) {
        String text = output.bytes.toString(StandardCharsets.UTF_8);
        if (!text.isEmpty()) {
            effects.add(what + '"' + (text.length() > LONGEST ? text.substring(0, LONGEST) + "…" : text) + '"');
        }
    }

    private static Set<Thread> threads() {
        Thread[] all = new Thread[256];
        int count = Thread.currentThread().getThreadGroup().enumerate(all);
        Set<Thread> threads = new HashSet<>();
        for (int at = 0; at < count; at++) {
            if (!(all[at] instanceof ForkJoinWorkerThread)) { // those of the common pool stay
                threads.add(all[at]);
            }
        }
        return threads;
    }

    /** Wait for the threads that were started since, and count those that go on. */
    private int left() {
        long until = System.nanoTime() + PATIENCE;
        int left = 0;
        for (Thread thread : threads()) {
            try {
                if (!threads.contains(thread)) {
                    thread.join(Math.max(1, (until - System.nanoTime()) / 1_000_000));
                    left += thread.isAlive() ? 1 : 0;
                }
            } catch (InterruptedException error) {
                left++;
            }
        }
        return left;
    }
}
