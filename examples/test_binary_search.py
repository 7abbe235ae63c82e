from binary_search import binary_search


def test_finds_every_item():
    items = [1, 3, 5, 7]
    assert [binary_search(items, item) for item in items] == [0, 1, 2, 3]


def test_says_what_is_missing():
    assert binary_search([1, 3, 5, 7], 4) == -1
    assert binary_search([], 4) == -1
