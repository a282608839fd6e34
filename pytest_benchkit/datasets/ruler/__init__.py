"""RULER's rows, generated when they are asked (Hsieh et al. 2024, arXiv 2404.06654): thirteen families at six
lengths. Families and figures follow NVIDIA/RULER ``scripts/`` @ c3f5e3b4f87f97e048793bb510a3a6b19a46bf3a;
texts and code are ours.

What is asked for is drawn before any size is known, so it does not depend on a tokenizer; a recipe then
builds the prompt of so many units, and the number of units is searched until the prompt fills its budget.
"""
