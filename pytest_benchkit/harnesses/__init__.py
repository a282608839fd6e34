"""How a model is asked. ``direct``: one chat call."""
