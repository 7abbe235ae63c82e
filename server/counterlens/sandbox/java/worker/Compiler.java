package counterlens.worker;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/** The compiler, kept warm. */
final class Compiler {
    private final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    private final StandardJavaFileManager library = library(Worker.JARS);

    private StandardJavaFileManager library(List<File> path) {
        StandardJavaFileManager made = compiler.getStandardFileManager(null, Locale.ROOT, null);
        try {
            made.setLocation(StandardLocation.CLASS_PATH, path);
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
        return made;
    }

    /** Compile units of source; the answer has classes, or the errors. */
    byte[] compile(DataInputStream in) throws IOException {
        List<Source> units = new ArrayList<>();
        for (int left = in.readInt(); left > 0; left--) {
            units.add(new Source(Worker.text(in), Worker.text(in)));
        }
        Values.Writer answer = new Values.Writer();
        DiagnosticCollector<JavaFileObject> said = new DiagnosticCollector<>();
        Output output = new Output(library);
        List<String> options = List.of("-proc:none", "-nowarn", "-Xlint:none", "-g:source,lines");
        boolean right;
        try {
            right = compiler.getTask(null, output, said, options, null, units).call();
        } catch (RuntimeException | StackOverflowError error) { // a defect of the compiler
            right = false;
        }
        answer.out.writeByte(right ? 'c' : 'e');
        if (!right) {
            answer.text(errors(said));
            return answer.bytes.toByteArray();
        }
        answer.out.writeInt(output.classes.size());
        for (Map.Entry<String, ByteArrayOutputStream> each : output.classes.entrySet()) {
            answer.text(each.getKey());
            answer.out.writeInt(each.getValue().size());
            each.getValue().writeTo(answer.out);
        }
        return answer.bytes.toByteArray();
    }

    private static String errors(DiagnosticCollector<JavaFileObject> said) {
        StringBuilder errors = new StringBuilder();
        for (Diagnostic<? extends JavaFileObject> one : said.getDiagnostics()) {
            if (one.getKind() == Diagnostic.Kind.ERROR && errors.length() < Worker.LONGEST_MESSAGE) {
                errors.append("line ").append(one.getLineNumber()).append(": ");
                errors.append(one.getMessage(Locale.ROOT)).append('\n');
            }
        }
        return errors.length() == 0 ? "it is too deeply nested to be compiled" : errors.toString().strip();
    }

    /** A source that is not in a file. */
    private static final class Source extends SimpleJavaFileObject {
        private final String name;
        private final String text;

        Source(String name, String text) {
            super(URI.create("string:///" + name), Kind.SOURCE);
            this.name = name;
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreErrors) {
            return text;
        }

        @Override
        public boolean isNameCompatible(String simpleName, Kind kind) {
            return true; // a public class may be in a file with any name
        }

        @Override
        public String getName() {
            return name;
        }
    }

    /** Keeps the compiled classes. */
    private static final class Output extends ForwardingJavaFileManager<JavaFileManager> {
        final Map<String, ByteArrayOutputStream> classes = new LinkedHashMap<>();

        Output(JavaFileManager library) {
            super(library);
        }

        @Override
        public JavaFileObject getJavaFileForOutput(
                Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            classes.put(name, bytes);
            return new SimpleJavaFileObject(URI.create("memory:///" + name.replace('.', '/')), kind) {
                @Override
                public OutputStream openOutputStream() {
                    return bytes;
                }
            };
        }
    }
}
