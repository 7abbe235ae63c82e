"""Dependence in C: each construct, against edges worked out by hand."""

from __future__ import annotations

import pytest

from counterlens.dependence import analyse, dependences
from tests.dependence.brace_cases import computed, expected

CASES = {
    "scanned": """
int f(int a[]) {
    int n, i;                   //
    scanf("%d", &n);            //
    for (i = 0; i < n; i++)     //< 5+; i 5, n 4
        scanf("%d", &a[i]);     //< 5+; a 2, i 5
    char s[10];                 //
    scanf("%s", s);             //
    return a[0] + s[0] + n;     //; a 2, a 6*, n 4, s 8*
}""",
    "read until the end": """
int f(void) {
    int c, n = 0;               //
    while ((c = getchar()) != EOF) //< 4+
        if (c == 'a')           //< 4+; c 4
            n++;                //< 5+; n 3, n 6
    return n;                   //; n 3, n 6
}""",
    "pointers": """
int f(int *p, int n) {
    *p = 1;                     //; p 2
    *p = n;                     //; n 2, p 2
    *(p + 1) = 2;               //; p 2
    p[2] = 3;                   //; p 2
    n = p[2];                   //; p 2, p 5*, p 6*
    return *p;                  //; p 2, p 4*, p 5*
}""",
    "structs": """
int f(struct P *p, struct P q) {
    p->x = 1;                   //; p 2
    q.x = p->x;                 //; p 2, p 3*, q 2
    q.y = 2;                    //; q 2
    return q.x + p->y;          //; p 2, q 2, q 4*
}""",
    "out parameters": """
int f(void) {
    int a = 1, b = 2;           //
    swap(&a, &b);               //; a 3, b 3
    return a + b;               //; a 3, a 4, b 3, b 4
}""",
    "filled": """
int f(int n) {
    int a[10];                  //
    memset(a, 0, sizeof(a));    //
    a[n] = 1;                   //; n 2
    memcpy(a, b, n);            //; a 4*, a 5*, n 2
    return a[0];                //; a 4*, a 5*, a 6*
}""",
    "in one statement": """
int f(int *a, int i) {
    a[i++] = i;                 //; a 2, i 2, i 3
    int j = (i++, i);           //; i 3, i 4
    int k = sizeof(i);          //
    return j;                   //; j 4
}""",
    "falling through": """
int f(int a) {
    switch (a) {                //; a 2
        case 1:
            a = 2;              //< 3
        case 2:
            a++;                //< 3; a 2, a 5
            break;              //< 3
        default:
            a = 4;              //< 3
    }
    return a;                   //; a 7, a 10
}""",
    "jumping": """
int f(int n) {
    int i = 0;                  //
again:
    i++;                        //< 6+; i 3, i 5
    if (i < n)                  //< 6+; i 5, n 2
        goto again;             //< 6+
    return i;                   //; i 5
}""",
    "a comment and nothing behind a label": """
int f(int n) {
    if (n)                      //; n 2
        goto out;               //< 3+
    n = 2;                      //< 3-
    goto last;                  //< 3-
out:
    /* cleanup */
    n = 1;                      //< 3+
last: ;
    return n;                   //; n 5, n 9
}""",
    "jumping ahead": """
int f(int n) {
    if (n < 0)                  //; n 2
        goto out;               //< 3+
    n = 1;                      //< 3-
    return n;                   //< 3-; n 5
out:
    return n;                   //< 3+; n 2
}""",
    "macros": """
int f(int n) {
    int i, s = 0;               //
    rep(i, n) {                 //; n 2
        s += MAX(n, 1);         //; n 2, s 3
    }
    return s;                   //; s 5
}""",
    "sizes": """
int f(int n) {
    int a[n], m = n;            //; n 2
    return m;                   //; m 3
}""",
    "exit": """
void f(int a) {
    if (a)                      //; a 2
        exit(1);                //< 3+
    a = 2;                      //< 3-
}""",
    "both ways of a condition for the compiler": """
int f(int a) {
#ifdef X
    a = 1;                      //
#else
    a = a + 2;                  //; a 4
#endif
    return a;                   //; a 6
}""",
}


@pytest.mark.parametrize("name", CASES)
def test_edges(name: str) -> None:
    source = CASES[name]
    wanted = expected(source)
    assert wanted, "a case without a comment says nothing"
    assert computed(dependences(source, "f", language="c"), set(wanted)) == wanted


def test_parameters_of_every_style() -> None:
    source = (
        "int f(a, b)\n  int a; char *b;\n{ return a + b[0]; }\n"
        "int g(h) { return h; }\nint *(*k(int x))[3] { return x; }\n"
    )
    assert analyse(source, "c").functions == ["f", "g", "k"]
    assert dependences(source, "f", language="c").data == {(1, 3, "a"), (1, 3, "b")}
    assert dependences(source, "g", language="c").data == {(4, 4, "h")}
    assert dependences(source, "k", language="c").data == {(5, 5, "x")}


def test_what_the_grammar_cannot_read_is_passed_over() -> None:
    source = "@@@\nint f(int a) {\n  FOREVER {\n    a++;\n  }\n  return a;\n}\n"
    assert dependences(source, "f", language="c").data == {(2, 4, "a"), (4, 6, "a")}
