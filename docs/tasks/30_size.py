#!/usr/bin/env python3
"""A task in Python: warns of a page that is less than half as large as the last time.

All that is known of the target comes as JSON on standard input. The last two arguments
are a scratch folder and a folder that is kept for this target. urllib finds the way to
the network in the environment. The answer is one line of JSON, and the last that is
written: status is ok, warning, error, broken, temporary, blocked or not_applicable.
"""

import json
import sys
import urllib.error
import urllib.request
from pathlib import Path

NAME = "page_size"


def answer(status, code="", message="", data=None):
    """Say what was found, and end."""
    found = {"status": status, "code": code, "message": message, "data": data}
    json.dump(found, sys.stdout)
    sys.exit()


def size(url):
    """Bytes of a page, however large it is."""
    total = 0
    with urllib.request.urlopen(url, timeout=20) as page:  # noqa: S310  # of the web
        while chunk := page.read(65536):
            total += len(chunk)
    return total


def main():
    """Be identified, or check a page."""
    if sys.argv[1] == "identify":
        who = {"name": NAME, "description": "Page has not shrunk", "timeout": 60}
        json.dump(who, sys.stdout)
        return
    target = json.load(sys.stdin)
    if not target["url"].startswith(("http://", "https://")):
        answer("not_applicable")
    try:
        now = size(target["url"])
    except urllib.error.HTTPError as error:
        answer("error", f"http_{error.code}", f"the page answers with {error.code}")
    except OSError as error:
        answer("temporary", "fetch_failed", str(error))
    kept = Path(sys.argv[-1], f"{NAME}.txt")
    before = int(kept.read_text()) if kept.exists() else 0
    kept.write_text(str(now))
    sizes = {"bytes": now, "before": before}
    if now * 2 < before:
        answer("warning", "shrunk", f"{now:,} bytes, {before:,} the last time", sizes)
    answer("ok", message=f"{now:,} bytes", data=sizes)


if __name__ == "__main__":
    main()
