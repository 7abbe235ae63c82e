package counterlens.worker;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
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

    /** Data that violates the format. */
    @SuppressWarnings("serial")
    static final class Malformed extends RuntimeException {
        Malformed(String message) {
            super(message, null, false, false);
        }
    }

    private static final int DEEPEST = 200;
    private static final int MOST = 4 << 20; // maximum values in a message
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
    private static final Map<Character, Class<?>> PRIMITIVES = Map.of(
            'Z', boolean.class, 'B', byte.class, 'S', short.class, 'C', char.class,
            'I', int.class, 'J', long.class, 'F', float.class, 'D', double.class);

    private Values() {}

    /** A new collection of a class; without lambdas, because the first one doubles the start time of a JVM. */
    private static Collection<Object> collection(String name, List<Object> items) {
        switch (name) {
            case "java.util.ArrayList", "java.util.ArrayList$SubList", "java.util.AbstractList$RandomAccessSubList":
                return new ArrayList<>(items);
            case "java.util.LinkedList":
                return new LinkedList<>(items);
            case "java.util.Vector":
                return new Vector<>(items);
            case "java.util.Stack":
                Stack<Object> stack = new Stack<>();
                stack.addAll(items);
                return stack;
            case "java.util.Arrays$ArrayList":
                return Arrays.asList(items.toArray());
            case "java.util.ArrayDeque":
                return new ArrayDeque<>(items);
            case "java.util.PriorityQueue":
                return new PriorityQueue<>(items);
            case "java.util.HashSet":
                return new HashSet<>(items);
            case "java.util.LinkedHashSet":
                return new LinkedHashSet<>(items);
            case "java.util.TreeSet":
                return new TreeSet<>(items);
            default:
                return name.contains("Set")
                        ? Collections.unmodifiableSet(new LinkedHashSet<>(items))
                        : Collections.unmodifiableList(items);
        }
    }

    private static Map<Object, Object> map(String name, Map<Object, Object> entries) {
        switch (name) {
            case "java.util.HashMap":
                return new HashMap<>(entries);
            case "java.util.LinkedHashMap":
                return new LinkedHashMap<>(entries);
            case "java.util.TreeMap":
                return new TreeMap<>(entries);
            case "java.util.Hashtable":
                return new Hashtable<>(entries);
            default:
                return Collections.unmodifiableMap(entries);
        }
    }

    /** Writes values; `met` contains the containers so far. */
    static final class Writer {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        final DataOutputStream out = new DataOutputStream(bytes);
        final List<Object> met;
        private final IdentityHashMap<Object, Integer> numbers = new IdentityHashMap<>();

        Writer() {
            this(List.of());
        }

        /** Args: the containers that both sides already have. */
        Writer(List<Object> known) {
            met = new ArrayList<>(known);
            for (int at = 0; at < known.size(); at++) {
                numbers.put(known.get(at), at);
            }
        }

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
                numbers.put(value, met.size());
                met.add(value);
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

        /** The content of a container. */
        void content(Object value, int depth) throws IOException {
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

    /** Reads values without trusting them; `met` contains the containers so far. */
    static final class Reader {
        final DataInputStream in;
        final List<Object> met = new ArrayList<>();
        private int read;

        Reader(DataInputStream in) {
            this.in = in;
        }

        Object read() throws IOException {
            return read(0);
        }

        int count() throws IOException {
            int count = in.readInt();
            if (count < 0 || count > in.available()) {
                throw new Malformed("a length of " + count);
            }
            return count;
        }

        String text() throws IOException {
            char[] characters = new char[count()];
            for (int at = 0; at < characters.length; at++) {
                characters[at] = in.readChar();
            }
            return new String(characters);
        }

        private Object read(int depth) throws IOException {
            if (depth > DEEPEST + 2 || ++read > MOST) {
                throw new Malformed("too deep, or too much");
            }
            int tag = in.readByte();
            return switch (tag) {
                case 'n' -> null;
                case 'I' -> in.readInt();
                case 's' -> text();
                case 'D' -> Double.longBitsToDouble(in.readLong());
                case 'Z' -> in.readBoolean();
                case 'J' -> in.readLong();
                case 'C' -> in.readChar();
                case 'F' -> Float.intBitsToFloat(in.readInt());
                case 'B' -> in.readByte();
                case 'S' -> in.readShort();
                case 'i' -> new BigInteger(raw());
                case 'd' -> new BigDecimal(new BigInteger(raw()), in.readInt());
                case 'O' -> Optional.ofNullable(read(depth + 1));
                case 'e' -> new AbstractMap.SimpleEntry<>(read(depth + 1), read(depth + 1));
                case 'r' -> known(in.readInt());
                case 'c' -> {
                    int number = met.size();
                    met.add(null); // one that contains itself cannot be rebuilt
                    Object made = content(depth);
                    met.set(number, made);
                    yield made;
                }
                default -> throw new Malformed("a tag " + tag);
            };
        }

        private byte[] raw() throws IOException {
            byte[] raw = new byte[count()];
            in.readFully(raw);
            return raw;
        }

        private Object known(int number) {
            Object found = number >= 0 && number < met.size() ? met.get(number) : null;
            if (found == null) {
                throw new Malformed("a reference to nothing");
            }
            return found;
        }

        /** The content written by `Writer.content`, as a new container. */
        Object content(int depth) throws IOException {
            int kind = in.readByte();
            switch (kind) {
                case 'b':
                    return new StringBuilder(text());
                case '[':
                    return array(depth);
                case 'L': {
                    String name = named(COLLECTION_NAMES, in.readUnsignedByte());
                    int count = count();
                    List<Object> items = new ArrayList<>(count);
                    for (int at = 0; at < count; at++) {
                        items.add(read(depth + 1));
                    }
                    return collection(name, items);
                }
                case 'M': {
                    String name = named(MAP_NAMES, in.readUnsignedByte());
                    int count = count();
                    Map<Object, Object> entries = new LinkedHashMap<>();
                    for (int at = 0; at < count; at++) {
                        entries.put(read(depth + 1), read(depth + 1));
                    }
                    return map(name, entries);
                }
                default:
                    throw new Malformed("a container " + kind);
            }
        }

        private Object array(int depth) throws IOException {
            Class<?> component = component(text());
            int count = count();
            Object array = Array.newInstance(component, count);
            for (int at = 0; at < count; at++) {
                Array.set(array, at, read(depth + 1));
            }
            return array;
        }

        private static String named(List<String> names, int number) {
            if (number >= names.size()) {
                throw new Malformed("a class " + number);
            }
            return names.get(number);
        }

        /** The class of an array's items: a primitive one, or one of the library's. */
        private static Class<?> component(String name) {
            for (Class<?> primitive : PRIMITIVES.values()) {
                if (primitive.getName().equals(name)) {
                    return primitive;
                }
            }
            if (!name.matches("(\\[+[ZBSCIJFD])|(\\[+L)?java\\.(lang|util|math)\\.\\w+;?")) {
                throw new Malformed("an array of " + name.length());
            }
            try {
                return Class.forName(name, false, ClassLoader.getPlatformClassLoader());
            } catch (ClassNotFoundException | LinkageError error) {
                throw new Malformed("an array of an unknown class");
            }
        }
    }
}
