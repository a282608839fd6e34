class BenchHtml:
    def __init__(self, bench):
        self.bench = bench
