package counterlens.worker;

import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Runs tests with JUnit 4 or 5, if the class path has one; no other class refers to JUnit, so it may be absent. */
final class JUnit {
    private static final String PLATFORM = "org.junit.platform.";

    private final ClassLoader loader;
    private final Worker.TestRun run;

    private JUnit(ClassLoader loader, Worker.TestRun run) {
        this.loader = loader;
        this.run = run;
    }

    /** Run the tests of some classes that an available JUnit supports. */
    static void run(ClassLoader loader, List<Class<?>> types, Worker.TestRun run) throws Exception {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        Thread.currentThread().setContextClassLoader(loader);
        try {
            JUnit unit = new JUnit(loader, run);
            if (unit.has(PLATFORM + "launcher.Launcher")) {
                unit.onPlatform(types);
            } else if (unit.has("org.junit.runner.JUnitCore")) {
                unit.byItself(types);
            }
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    private boolean has(String name) {
        try {
            type(name);
            return true;
        } catch (ClassNotFoundException error) {
            return false;
        }
    }

    private Class<?> type(String name) throws ClassNotFoundException {
        return Class.forName(name, false, loader);
    }

    // JUnit 5, which runs JUnit 4 through its vintage engine

    private void onPlatform(List<Class<?>> types) throws Exception {
        Class<?> selector = type(PLATFORM + "engine.DiscoverySelector");
        Method select = type(PLATFORM + "engine.discovery.DiscoverySelectors").getMethod("selectClass", Class.class);
        Object selectors = Array.newInstance(selector, types.size());
        for (int at = 0; at < types.size(); at++) {
            Array.set(selectors, at, select.invoke(null, types.get(at)));
        }
        Class<?> builder = type(PLATFORM + "launcher.core.LauncherDiscoveryRequestBuilder");
        Object request = builder.getMethod("request").invoke(null);
        builder.getMethod("selectors", selectors.getClass()).invoke(request, selectors);
        Object built = builder.getMethod("build").invoke(request);
        Object launcher = type(PLATFORM + "launcher.core.LauncherFactory").getMethod("create").invoke(null);
        Class<?> listener = type(PLATFORM + "launcher.TestExecutionListener");
        Object listening = Proxy.newProxyInstance(loader, new Class<?>[] {listener}, (self, method, given) -> {
            switch (method.getName()) {
                case "executionFinished" -> finished(given[0], given[1]);
                case "hashCode" -> {
                    return 0;
                }
                case "equals" -> {
                    return self == given[0];
                }
                default -> { }
            }
            return null;
        });
        Object listeners = Array.newInstance(listener, 1);
        Array.set(listeners, 0, listening);
        Class<?> asked = type(PLATFORM + "launcher.LauncherDiscoveryRequest");
        type(PLATFORM + "launcher.Launcher").getMethod("execute", asked, listeners.getClass())
                .invoke(launcher, built, listeners);
    }

    private void finished(Object identifier, Object result) throws Exception {
        Class<?> known = type(PLATFORM + "launcher.TestIdentifier");
        Class<?> outcome = type(PLATFORM + "engine.TestExecutionResult");
        boolean test = (Boolean) known.getMethod("isTest").invoke(identifier);
        String status = outcome.getMethod("getStatus").invoke(result).toString();
        if (status.equals("FAILED")) {
            Optional<?> thrown = (Optional<?>) outcome.getMethod("getThrowable").invoke(result);
            Throwable error = thrown.isPresent() ? (Throwable) thrown.get() : new AssertionError("it failed");
            if (run.failed == null) {
                run.fail(named(known, identifier), error);
            }
        } else if (test && status.equals("SUCCESSFUL")) {
            run.tests++;
        }
    }

    private String named(Class<?> known, Object identifier) throws Exception {
        String shown = (String) known.getMethod("getDisplayName").invoke(identifier);
        Optional<?> source = (Optional<?>) known.getMethod("getSource").invoke(identifier);
        if (source.isPresent() && source.get().getClass().getSimpleName().equals("MethodSource")) {
            Class<?> place = source.get().getClass();
            String method = (String) place.getMethod("getMethodName").invoke(source.get());
            String whole = place.getMethod("getClassName").invoke(source.get()) + "." + method;
            return shown.startsWith(method) ? whole : whole + " " + shown;
        }
        return shown;
    }

    // JUnit 4 alone

    private void byItself(List<Class<?>> types) throws Exception {
        Class<?> core = type("org.junit.runner.JUnitCore");
        Class<?> annotation = type("org.junit.Test");
        List<Class<?>> testing = new ArrayList<>();
        for (Class<?> each : types) {
            for (Method method : each.getMethods()) {
                boolean marked = List.of(method.getAnnotations()).stream().anyMatch(annotation::isInstance);
                if (marked && !testing.contains(each)) {
                    testing.add(each);
                }
            }
        }
        Object result = core.getMethod("runClasses", Class[].class)
                .invoke(null, (Object) testing.toArray(new Class<?>[0]));
        Class<?> summary = result.getClass();
        List<?> failures = (List<?>) summary.getMethod("getFailures").invoke(result);
        run.tests += (Integer) summary.getMethod("getRunCount").invoke(result) - failures.size();
        for (Object failure : failures) {
            if (run.failed == null) {
                String name = (String) failure.getClass().getMethod("getTestHeader").invoke(failure);
                run.fail(name, (Throwable) failure.getClass().getMethod("getException").invoke(failure));
            }
        }
    }
}
