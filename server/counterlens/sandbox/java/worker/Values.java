package counterlens.worker;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.*;

/**
 * Values as plain data: primitives, text, numbers, arrays and collections of the library, by their exact class.
 *
 * Containers are numbered in order of occurrence, so that one that occurs twice remains one.
 */
final class Values {
    /** A value that is not plain data, and its class. */
    @SuppressWarnings("serial")
    static final class Unpassable extends RuntimeException {
        Unpassable(Class<?> type) {
            super(type.getName(), null, false, false);
        }
    }

    private static final int DEEPEST = 200;
    /** Collections by the name of their class, in the order of the format. */
    private static final List<String> COLLECTION_NAMES = List.of(
            "java.util.ArrayList", "java.util.LinkedList", "java.util.Vector", "java.util.Stack",
            "java.util.Arrays$ArrayList", "java.util.ImmutableCollections$ListN",
            "java.util.ImmutableCollections$List12", "java.util.ImmutableCollections$SubList",
            "java.util.Collections$EmptyList", "java.util.Collections$SingletonList",
            "java.util.Collections$UnmodifiableList", "java.util.Collections$UnmodifiableRandomAccessList",
            "java.util.Collections$CopiesList", "java.util.ArrayList$SubList",
            "java.util.AbstractList$RandomAccessSubList", "java.util.ArrayDeque", "java.util.PriorityQueue",
            "java.util.HashSet", "java.util.LinkedHashSet", "java.util.TreeSet",
            "java.util.ImmutableCollections$SetN", "java.util.ImmutableCollections$Set12",
            "java.util.Collections$EmptySet", "java.util.Collections$SingletonSet",
            "java.util.Collections$UnmodifiableSet");
    private static final List<String> MAP_NAMES = List.of(
            "java.util.HashMap", "java.util.LinkedHashMap", "java.util.TreeMap", "java.util.Hashtable",
            "java.util.ImmutableCollections$MapN", "java.util.ImmutableCollections$Map1",
            "java.util.Collections$EmptyMap", "java.util.Collections$SingletonMap",
            "java.util.Collections$UnmodifiableMap");

    private Values() {}

    /** Writes values. */
    static final class Writer {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        final DataOutputStream out = new DataOutputStream(bytes);
        private final IdentityHashMap<Object, Integer> numbers = new IdentityHashMap<>(); // of the containers so far

        void write(Object value) throws IOException {
            write(value, 0);
        }

        /** A string of any length, also with unpaired surrogates. */
        void text(String text) throws IOException {
            out.writeInt(text.length());
            out.writeChars(text);
        }

        private void write(Object value, int depth) throws IOException {
            if (depth > DEEPEST) {
                throw new Unpassable(value.getClass());
            }
            if (value == null) {
                out.writeByte('n');
            } else if (!scalar(value)) {
                Integer known = numbers.get(value);
                if (known != null) {
                    out.writeByte('r');
                    out.writeInt(known);
                    return;
                }
                if (value instanceof Optional<?> optional && optional.getClass() == Optional.class) {
                    out.writeByte('O');
                    write(optional.orElse(null), depth + 1);
                    return;
                }
                if (value.getClass() == AbstractMap.SimpleEntry.class) {
                    Map.Entry<?, ?> entry = (Map.Entry<?, ?>) value;
                    out.writeByte('e');
                    write(entry.getKey(), depth + 1);
                    write(entry.getValue(), depth + 1);
                    return;
                }
                numbers.put(value, numbers.size());
                out.writeByte('c');
                content(value, depth);
            }
        }

        private boolean scalar(Object value) throws IOException {
            Class<?> type = value.getClass();
            if (type == Integer.class) {
                out.writeByte('I');
                out.writeInt((Integer) value);
            } else if (type == String.class) {
                out.writeByte('s');
                text((String) value);
            } else if (type == Double.class) {
                out.writeByte('D');
                out.writeLong(Double.doubleToRawLongBits((Double) value));
            } else if (type == Boolean.class) {
                out.writeByte('Z');
                out.writeBoolean((Boolean) value);
            } else if (type == Long.class) {
                out.writeByte('J');
                out.writeLong((Long) value);
            } else if (type == Character.class) {
                out.writeByte('C');
                out.writeChar((Character) value);
            } else if (type == Float.class) {
                out.writeByte('F');
                out.writeInt(Float.floatToRawIntBits((Float) value));
            } else if (type == Byte.class) {
                out.writeByte('B');
                out.writeByte((Byte) value);
            } else if (type == Short.class) {
                out.writeByte('S');
                out.writeShort((Short) value);
            } else {
                return big(value, type);
            }
            return true;
        }

        private boolean big(Object value, Class<?> type) throws IOException {
            if (type == BigInteger.class || type == BigDecimal.class) {
                boolean whole = type == BigInteger.class;
                BigInteger digits = whole ? (BigInteger) value : ((BigDecimal) value).unscaledValue();
                byte[] raw = digits.toByteArray();
                out.writeByte(whole ? 'i' : 'd');
                out.writeInt(raw.length);
                out.write(raw);
                if (!whole) {
                    out.writeInt(((BigDecimal) value).scale());
                }
                return true;
            }
            return false;
        }

        private void content(Object value, int depth) throws IOException {
            Class<?> type = value.getClass();
            if (type.isArray()) {
                array(value, type.getComponentType(), depth);
            } else if (type == StringBuilder.class) {
                out.writeByte('b');
                text(value.toString());
            } else if (COLLECTION_NAMES.contains(type.getName()) && natural(value)) {
                Object[] items = ((Collection<?>) value).toArray();
                out.writeByte('L');
                out.writeByte(COLLECTION_NAMES.indexOf(type.getName()));
                out.writeInt(items.length);
                for (Object item : items) {
                    write(item, depth + 1);
                }
            } else if (MAP_NAMES.contains(type.getName()) && natural(value)) {
                Map<?, ?> map = (Map<?, ?>) value;
                out.writeByte('M');
                out.writeByte(MAP_NAMES.indexOf(type.getName()));
                out.writeInt(map.size());
                for (Map.Entry<?, ?> entry : map.entrySet()) {
                    write(entry.getKey(), depth + 1);
                    write(entry.getValue(), depth + 1);
                }
            } else {
                throw new Unpassable(type);
            }
        }

        private void array(Object value, Class<?> component, int depth) throws IOException {
            out.writeByte('[');
            text(component.getName());
            int length = Array.getLength(value);
            out.writeInt(length);
            for (int at = 0; at < length; at++) {
                write(Array.get(value, at), depth + 1);
            }
        }

        /** Whether it is unsorted, or sorted by the natural order of its items. */
        private static boolean natural(Object value) {
            if (value instanceof PriorityQueue<?> queue) {
                return queue.comparator() == null;
            }
            if (value instanceof SortedSet<?> set) {
                return set.comparator() == null;
            }
            return !(value instanceof SortedMap<?, ?> map) || map.comparator() == null;
        }
    }
}
