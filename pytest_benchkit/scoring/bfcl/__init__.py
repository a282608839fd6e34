"""BFCL's single-turn judging: asking with function schemas, decoding calls, checking them, totals.

The rules are those of ``bfcl_eval`` 2026.3.23 (``eval_checker/ast_eval``), held against it by
``tests/conformance/test_bfcl.py``.
"""
