class BenchTerminal:
    def __init__(self, bench):
        self.bench = bench

    def pytest_terminal_summary(self, terminalreporter):
        b = self.bench
        if b.store:
            rows = list(b.store.ledger.rows.values())
            terminalreporter.write_line(
                f"rows {len(rows)} correct {sum(r['outcome'] == 'correct' for r in rows)} complete {b.store.info.get('complete')} {b.store.path.name}"
            )
