"""Models: how a request becomes a :class:`~pytest_benchkit.reply.Reply`. Knows no suites and no pytest."""
