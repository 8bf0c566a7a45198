"""What the driver is asked besides launches."""


def funcSetAttribute(function, attribute, value):
    assert attribute == 8
    assert 48 << 10 < value <= 227 << 10
