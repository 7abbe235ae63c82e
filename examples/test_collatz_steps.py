import unittest

from collatz_steps import collatz_steps


class CollatzTest(unittest.TestCase):
    def test_known_lengths(self):
        self.assertEqual(collatz_steps(1), 0)
        self.assertEqual(collatz_steps(6), 8)
        self.assertEqual(collatz_steps(27), 111)
