"""Pieces of which replies are put together by chance, for the letter and the number scorers."""

from __future__ import annotations

LETTERS = [
    *(
        "answer is ",
        "answer: ",
        "Answer: ",
        "The ",
        "(",
        ")",
        "A",
        "B",
        "C",
        "D",
        "J",
        "\n",
        ". ",
        "so ",
        "**",
    ),
    *(
        "I ",
        "because ",
        "Amsterdam ",
        "the ",
        "answer ",
        "  ",
        "E",
        "option ",
        "is ",
        "correct",
        ", ",
        "a",
        "(b)",
    ),
    *("answer is (", "Answer: (", "answer: (", "answer (", "(C)", "(B)"),
]

NUMBERS = [
    *(
        "#### ",
        "####",
        "\n",
        " ",
        "18",
        "1,234",
        "-7",
        "3.5",
        ".",
        ",",
        "$",
        "so ",
        "%",
        "\n#### 18",
        "1/2",
        "##",
    ),
    *("Answer: ", "\\boxed{18}", "**", "7", "12.", "#### 2. Step\n", "\n\n"),
]
