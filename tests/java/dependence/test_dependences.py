"""Dependence in Java: each construct, against edges worked out by hand."""

from __future__ import annotations

import pytest

from counterlens.dependence import MODULE, Rules, analyse, dependences
from counterlens.errors import SourceError
from tests.dependence.brace_cases import computed, expected

CASES = {
    "blocks": """
int f(int a) {
    int b = a;                  //; a 2
    {
        int c = b;              //; b 3
        b = c;                  //; c 5
    }
    for (int c = 0; c < b; c++) //< 8+; b 6, b 9, c 8
        b += c;                 //< 8+; b 6, b 9, c 8
    return b;                   //; b 6, b 9
}""",
    "shadowed fields": """
void f(int x) {
    this.x = x;                 //; x 2
    x = 1;                      //
    use(this.x);                //; x 3
    use(x);                     //; x 4
}""",
    "a field by its name alone": """
int f() {
    count = 1;                  //
    return this.count + count;  //; count 3
}""",
    "branches": """
int f(int a, int b) {
    if (a > 0 && b > 0)         //; a 2, b 2
        a = 1;                  //< 3+
    else if (a < 0)             //< 3-; a 2
        return b;               //< 5+; b 2
    else
        a = 2;                  //< 5-
    return a;                   //< 5- 3+; a 4, a 8
}""",
    "a loop that is left": """
int f(int n) {
    int i = 0;                  //
    while (i < n) {             //< 5-; i 3, i 7, n 2
        if (i == 7)             //< 4+; i 3, i 7
            break;              //< 5+
        i++;                    //< 5-; i 3, i 7
    }
    return i;                   //; i 3, i 7
}""",
    "endless": """
int f(int n) {
    for (;;) {                  //< 4-
        if (n-- == 0)           //< 3+; n 2, n 4
            break;              //< 4+
    }
    return n;                   //; n 4
}""",
    "do": """
int f(int n) {
    int i = 0;                  //
    do {
        i = i + n;              //< 6+; i 3, i 5, n 2
    } while (i < 10);           //< 6+; i 5
    return i;                   //; i 5
}""",
    "labels": """
int f(int[][] m) {
    int s = 0;                  //
    outer:
    for (int[] row : m) {       //< 6- 7+; m 2
        for (int v : row) {     //< 5+ 9-; row 5
            if (v < 0)          //< 6+; v 6
                continue outer; //< 7+
            if (v == 0)         //< 7-; v 6
                break outer;    //< 9+
            s += v;             //< 9-; s 3, s 11, v 6
        }
    }
    return s;                   //; s 3, s 11
}""",
    "a labelled block": """
int f(int a) {
    block: {
        if (a > 0)              //; a 2
            break block;        //< 4+
        a = 1;                  //< 4-
    }
    return a;                   //; a 2, a 6
}""",
    "falling through": """
int f(int a) {
    int b = 0;                  //
    switch (a) {                //; a 2
        case 1:
            b = 1;              //< 4
        case 2:
            b++;                //< 4; b 3, b 6
            break;              //< 4
        default:
            return b;           //< 4; b 3
    }
    return b;                   //< 4; b 8
}""",
    "arrows": """
int f(Object a) {
    int b = 0;                  //
    switch (a) {                //; a 2, i 4
        case Integer i when i > 3 -> b = i; //< 4; i 4
        case String s -> { b = s.length(); } //< 4; s 4
        default -> throw new Error();       //< 4
    }
    return b;                   //< 4; b 5, b 6
}""",
    "a switch with a value": """
int f(int a, int x) {
    int b = switch (a) { case 1 -> x; default -> { yield x = 2; } }; //; a 2, x 2
    return b + x;               //; b 3, x 2, x 3
}""",
    "skipped": """
int f(int a, int b) {
    boolean c = a > 0 && (b = a) > 1;  //; a 2
    int d = c ? a++ : 0;        //; a 2, c 3
    return a + b + d;           //; a 2, a 4, b 2, b 3, d 4
}""",
    "in order": """
int f(int i) {
    int j = i++ + i;            //; i 2, i 3
    i += j;                     //; i 3, j 3
    return -i;                  //; i 4
}""",
    "caught": """
int f(int a) {
    int b = 0;                  //
    try {                       //
        b = g(a);               //; a 2
        a = 1;                  //
    } catch (E e) {             //< 4+
        b = e.code;             //< 7+; e 7
    } finally {
        a = 2;                  //
    }
    return a + b;               //; a 10, b 5, b 8
}""",
    "thrown": """
int f(int a) {
    try {                       //
        if (a > 0)              //; a 2
            throw new E();      //< 4+
        a = 1;                  //< 4-
    } catch (E e) {             //< 3+ 4+
        a = 3;                  //< 7+
    }
    return a;                   //; a 6, a 8
}""",
    "resources": """
int f(P p) {
    try (R r = open(p)) {       //; p 2
        return r.size();        //; r 3
    }
}""",
    "arrays": """
int f(int[] a, int i) {
    a[i] = 1;                   //; a 2, i 2
    a[0] = 2;                   //; a 2
    a[0] = 3;                   //; a 2
    a[1]++;                     //; a 2, a 3*
    use(a[1]);                  //; a 2, a 3*, a 6*
    Arrays.fill(a, 0);          //; a 2, a 3*, a 5*, a 6*
    return a[2];                //; a 8*
}""",
    "fields of objects": """
int f(P p, P q) {
    p.x = 1;                    //; p 2
    p.y = 2;                    //; p 2
    p = q;                      //; q 2
    p.x = 3;                    //; p 5
    return p.x + p.y;           //; p 5, p 6*
}""",
    "collections": """
int f(List<Integer> l, Map<String, List<Integer>> m, int k) {
    l.add(k);                   //; k 2, l 2
    l.add(1);                   //; l 3*
    m.get("a").add(k);          //; k 2, m 2
    m.get("b").add(k);          //; k 2, m 2, m 5*
    return l.get(0) + m.size(); //; l 4*, m 2, m 5*, m 6*
}""",
    "perhaps added": """
boolean f(List<Integer> l, boolean b) {
    boolean c = b && l.add(1);  //; b 2, l 2
    return c && l.isEmpty();    //; c 3, l 2, l 3*
}""",
    "lambdas": """
int f(List<Integer> l, int[] s) {
    int k = 1;                  //
    l.forEach(x -> s[0] += x * k); //; k 3, l 2, s 2
    Runnable r = () -> l.add(k);   //; k 3, l 2, l 6*, l 5*
    l.clear();                  //; l 2, l 5*
    return s[0] + l.size();     //; l 5*, l 6*, s 2, s 4*
}""",
    "names inside of a lambda are its own": """
int f(int x) {
    F g = y -> { int z = y; return z + h(w -> w); }; //
    int z = 3;                  //
    return z;                   //; z 4
}""",
    "classes inside": """
int f(int x) {
    Object o = new Object() { int get() { int y = x; return y; } }; //; x 2
    class Local { int z = x; }  //; x 2
    return o.hashCode();        //; o 3
}""",
    "exit": """
void f(int a) {
    if (a > 0)                  //; a 2
        System.exit(1);         //< 3+
    a = 2;                      //< 3-
}""",
    "out of reach": """
int f(int a) {
    return a;                   //; a 2
    a = 1;
}""",
    "patterns": """
int f(Object o) {
    if (!(o instanceof String s))  //; o 2
        return 0;               //< 3+
    return s.length();          //< 3-; s 3
}""",
    "held": """
void f(Object lock, int a) {
    synchronized (lock) {       //; lock 2
        a = a + 1;              //; a 2
    }
    assert a > 0 : "a";         //; a 4
    use(a);                     //< 6+; a 4
}""",
    "several arguments": """
int f(int a, int... rest) {
    return a + rest[0];         //; a 2, rest 2
}""",
}


@pytest.mark.parametrize("name", CASES)
def test_edges(name: str) -> None:
    source = CASES[name]
    body = "class A {" + source + "\n}"
    wanted = expected(body)
    assert wanted, "a case without a comment says nothing"
    assert computed(dependences(body, "f", language="java"), set(wanted)) == wanted


SEVERAL = """
interface I { int none(); default int one() { return 1; } }
enum E { A; int two() { return 2; } }
record R(int x) { R { x = 1; } }
class C<T> {
    C(int a) { this(a, 1); }
    /** Said. */
    @Override
    @Deprecated public
    int three(int[] a, T b) { Runnable r = new Runnable() { public void run() {} }; return 3; }
    int three(String... a) { class Inner { void four() {} } return 3; }
}
"""


def test_functions_are_named_by_what_they_stand_in() -> None:
    assert analyse(SEVERAL, "java").functions == [
        *("I.one", "E.two", "R.R", "C.C", "C.three(int[], T)", "C.three.run"),
        *("C.three(String...)", "C.three.Inner.four"),
    ]


def test_a_header_begins_behind_its_annotations() -> None:
    header = dependences(SEVERAL, "C.three(int[], T)", language="java").statements[0]
    assert (header.line, header.end_line) == (9, 10)
    assert header.text == "public\n    int three(int[] a, T b)"


def test_statements_are_numbered_in_the_order_of_the_text() -> None:
    source = (
        "class A { void f() {\n for (int i = 0, j = 0; i < 3; i++, j--)\n  do i += j; while (i < j);\n} }"
    )
    found = [(one.line, one.text) for one in dependences(source, "f", language="java").statements]
    assert found == [
        (1, "void f()"),
        (2, "for (int i = 0, j = 0; i < 3; i++, j--)"),
        (2, "int i = 0, j = 0;"),
        (2, "i++"),
        (2, "j--"),
        (3, "i += j;"),
        (3, "while (i < j);"),
    ]


def test_a_name_that_several_methods_have_asks_for_the_types() -> None:
    with pytest.raises(SourceError, match=r"several functions are called three: C.three\(int"):
        dependences(SEVERAL, "three", language="java")


def test_a_file_has_no_statements_of_its_own() -> None:
    first, *functions = analyse(SEVERAL, "java").all()
    assert (first.function, first.statements, first.edges) == (MODULE, (), frozenset())
    assert [one.function for one in functions] == analyse(SEVERAL, "java").functions


@pytest.mark.parametrize(
    ("source", "line"), [("class A {\n void f( { }\n}", 2), ("class A {\n int f() { x = ; }", 2)]
)
def test_what_does_not_parse_is_refused_with_its_line(source: str, line: int) -> None:
    with pytest.raises(SourceError, match=f"the Java source is not valid at line {line}"):
        dependences(source, language="java")


def test_a_language_without_an_analysis_is_refused() -> None:
    with pytest.raises(SourceError, match="the dependences of Go cannot be computed"):
        dependences("", language="go")


def test_statements_that_may_raise_decide_where_it_is_asked_for() -> None:
    source = "class A { int f(int[] a) {\n int b = a[0];\n int c = b;\n return c;\n} }"
    found = dependences(source, "f", language="java", rules=Rules(implicit_exceptions=True))
    assert found.control == {(2, 3), (2, 4)}
    assert dependences(source, "f", language="java").control == set()


def test_long_chains_and_deep_expressions_are_analysed() -> None:
    chain = "".join(f"if (x == {n}) y = {n};\n else " for n in range(1500)) + "y = 0;"
    total = " + ".join(["x"] * 3000)
    source = f"class A {{ int f(int x, int y) {{\n{chain}\n int z = {total};\n return z + y;\n}} }}"
    found = dependences(source, "f", language="java")
    assert len(found.statements) == 3 + 2 * 1500 + 1
