"""libsonde from Python, by ctypes: python3 sonde.py [DEVICE]"""
import ctypes as c
import sys


class Error(c.Structure):
    _fields_ = [("code", c.c_int), ("text", c.c_char * 1024)]


class Options(c.Structure):  # the rest of the struct is zeros: what is usual
    _fields_ = [("device", c.c_char_p), ("rest", c.c_char * 256)]


class Finding(c.Structure):
    _fields_ = [(name, kind) for kind, names in (
        (c.c_char_p, "id unit status because text"), (c.c_double, "number"),
        (c.POINTER(c.c_double), "list"), (c.c_size_t, "count"),
        (c.c_char_p, "axis_name axis_unit"), (c.POINTER(c.c_double), "axis"),
        (c.c_double, "low high confidence"), (c.c_char_p, "study method"),
    ) for name in names.split()]


EACH = c.CFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(Finding))
lib = c.CDLL("libsonde.so.0")
error, session = Error(), c.c_void_p()
device = sys.argv[1].encode() if len(sys.argv) > 1 else None
code = lib.sonde_open(c.byref(session), c.byref(Options(device)), c.byref(error))
if code == 0:
    studies = (c.c_char_p * 1)(b"latency")
    code = lib.sonde_run(session, studies, c.c_size_t(1), c.byref(error))
if code < 0:
    print(error.text.decode(), file=sys.stderr)


@EACH
def show(_, finding):
    f = finding[0]
    print(f.id.decode(), f.text.decode(), f.status.decode())
    return 0


lib.sonde_each(session, show, None)
lib.sonde_close(session, None)
sys.exit(lib.sonde_exit_status(code))
