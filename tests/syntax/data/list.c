/* A singly linked list of words. */
#include <stdio.h>
#include <stdlib.h>
#include "list.h"

#define MAX(a, b) ((a) > (b) ? (a) : (b))
#ifdef DEBUG
#define LOG(...) fprintf(stderr, __VA_ARGS__)
#else
#define LOG(...)
#endif

typedef struct node {
    const char *word;
    unsigned int count : 12;
    struct node *next;
} node_t;

enum order { FIRST = 1, LAST };
static const int primes[] = {2, 3, [5] = 5};
static int (*compare)(const void *, const void *);

/* Add a word, or count it once more. */
int add(node_t **head, const char *word)
{
    for (node_t *at = *head; at != NULL; at = at->next) {
        if (at->word[0] == word[0] && !compare(at->word, word)) {
            at->count++;
            return (int)at->count;
        }
    }
    node_t *made = malloc(sizeof *made);
    if (!made)
        goto fail;
    *made = (node_t){.word = word, .count = 1, .next = *head};
    *head = made;
    return 1;
fail:
    LOG("no memory for %s\n", word);
    return -1;
}

size_t length(const node_t *head)
{
    size_t n = 0;
    do {
        n += head ? 1 : 0;
    } while (head && (head = head->next));
    switch (n % 3) {
    case 0:
        putchar('0');
        break;
    default:
        printf("%zu" "\n", MAX(n, sizeof(primes) / sizeof(primes[0])));
    }
    return n;
}
