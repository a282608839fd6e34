def excerpt(record):
    return str(record)[:4000]
