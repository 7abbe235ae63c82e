package counterlens.watch;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The observations of an instrumented program: the rounds of its loops, and the changes by its statements. */
public final class Watch {
    private static final int MOST_STEPS = 400;
    private static final int LONGEST = 100;
    private static final int DEEPEST = 20;
    private static final List<String> STEPS = new ArrayList<>();
    private static int rounds;
    private static int depth;
    private static boolean done;

    private Watch() {}

    /** A round of a loop begins. */
    public static void round() {
        rounds++;
    }

    public static int rounds() {
        return rounds;
    }

    /** An activation of the method begins. */
    public static void enter() {
        depth++;
    }

    /** An activation ends; only the first outermost one counts. */
    public static void leave() {
        depth--;
        done |= depth == 0;
    }

    /** The value of a variable before a statement; null if it is not observed. */
    public static String before(Object value) {
        return depth == 1 && !done ? text(value) : null;
    }

    /** A statement has run: its line, and the name, old and new value of each variable that may have changed. */
    public static void ran(int line, Object... variables) {
        if (depth != 1 || done || STEPS.size() >= MOST_STEPS) {
            return;
        }
        StringBuilder step = new StringBuilder().append(line);
        for (int at = 0; at < variables.length; at += 3) {
            String now = text(variables[at + 2]);
            if (now != null && !now.equals(variables[at + 1])) {
                step.append('\n').append(variables[at]).append('\n').append(now);
            }
        }
        STEPS.add(step.toString());
    }

    public static List<String> steps() {
        return STEPS;
    }

    /** A value as a Java expression; null if it is not plain, or too long. */
    private static String text(Object value) {
        StringBuilder written = new StringBuilder();
        return write(value, written, 0) ? written.toString() : null;
    }

    private static boolean write(Object value, StringBuilder out, int deep) {
        if (deep > DEEPEST || out.length() > LONGEST) {
            return false;
        }
        boolean well = true;
        if (value == null || value instanceof Boolean || value instanceof Integer) {
            out.append(value);
        } else if (value instanceof Long) {
            out.append(value).append('L');
        } else if (value instanceof Short || value instanceof Byte) {
            out.append(value instanceof Short ? "(short) " : "(byte) ").append(value);
        } else if (value instanceof Double || value instanceof Float) {
            double number = ((Number) value).doubleValue();
            well = !Double.isNaN(number) && !Double.isInfinite(number);
            out.append(value).append(value instanceof Float ? "f" : "");
        } else if (value instanceof Character || value instanceof String) {
            quote(value.toString(), out, value instanceof String ? '"' : '\'');
        } else if (value instanceof Optional<?> optional) {
            out.append(optional.isPresent() ? "Optional.of(" : "Optional.empty(");
            well = !optional.isPresent() || write(optional.get(), out, deep + 1);
            out.append(')');
        } else if (value.getClass().isArray()) {
            String type = value.getClass().getComponentType().getName();
            String open = type.startsWith("[") || type.contains(".") ? "new Object[] {" : "new " + type + "[] {";
            int size = java.lang.reflect.Array.getLength(value);
            out.append(open);
            for (int at = 0; at < size && well; at++) {
                out.append(at == 0 ? "" : ", ");
                well = write(java.lang.reflect.Array.get(value, at), out, deep + 1);
            }
            out.append('}');
        } else if (value instanceof Map<?, ?> map && library(value)) {
            out.append("Map.ofEntries(");
            String between = "";
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                out.append(between).append("Map.entry(");
                well &= write(entry.getKey(), out, deep + 1);
                out.append(", ");
                well &= write(entry.getValue(), out, deep + 1);
                out.append(')');
                between = ", ";
            }
            out.append(')');
        } else if (value instanceof Iterable<?> items && library(value)) {
            out.append(value instanceof Set ? "Set.of(" : "Arrays.asList(");
            String between = "";
            for (Object item : items) {
                out.append(between);
                well = well && write(item, out, deep + 1);
                between = ", ";
                if (!well) {
                    return false;
                }
            }
            out.append(')');
        } else {
            well = false;
        }
        return well && out.length() <= LONGEST;
    }

    private static boolean library(Object value) {
        return value.getClass().getName().startsWith("java.util.");
    }

    private static void quote(String text, StringBuilder out, char mark) {
        out.append(mark);
        for (char sign : text.toCharArray()) {
            if (sign == mark || sign == '\\') {
                out.append('\\').append(sign);
            } else if (sign == '\n') {
                out.append("\\n");
            } else if (sign == '\t') {
                out.append("\\t");
            } else if (sign == '\r') {
                out.append("\\r");
            } else if (sign < ' ' || Character.isSurrogate(sign)) {
                out.append(String.format("\\u%04x", (int) sign));
            } else {
                out.append(sign);
            }
        }
        out.append(mark);
    }
}
