"""Checks report one JSON line each on stdout: {"name", "ok", "detail"}."""
import json
import sys
import traceback


def check(name, work):
    """Runs one check; what it returns is the detail, what it raises a failure."""
    try:
        ok, detail = True, work() or ""
    except AssertionError as error:
        ok, detail = False, str(error) or traceback.format_exc(limit=-1)
    except Exception as error:  # a loader that throws is what the check is for
        ok, detail = False, f"{type(error).__name__}: {error}"
    print(json.dumps({"name": name, "ok": ok, "detail": str(detail)[:1500]}), flush=True)


def same(given, expected, what):
    assert given == expected, f"{what}: {str(given)[:300]} instead of {str(expected)[:300]}"


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def manifest():
    with open(sys.argv[1], encoding="utf-8") as file:
        return json.load(file)
