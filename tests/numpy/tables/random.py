"""."""


def cases(ops):
    return []
