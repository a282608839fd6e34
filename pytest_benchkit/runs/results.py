def build(info, rows, own):
    return {"n": len(rows)}
