"""What runs inside the sandbox: standard library only, nothing of ours importable there but these files."""
