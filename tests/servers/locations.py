"""What nginx answers: its files, and its answers that are no files."""

import random
import shutil
from pathlib import Path

USER, PASSWORD = "ronda", "secret"
FILE_BYTES = 1_000_000
BIG_BYTES = 10_000_000
LONG_CHAIN = 25  # hops
MARKER = "/marker/"  # asked by ourselves, and left out of what was asked

PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>A page</title></head>
<body>
<h1 id="top">A page</h1>
<p id="part">A <a href="other.html">relative link</a>, an <a href="/empty">absolute
path</a>, a <a href="#part">part of this page</a>, <a href="#nowhere">one that is not
there</a> and a <a href="/status/404">dead link</a>.</p>
<a name="old-style">An anchor of old.</a>
<img src="/file.bin" alt="no image">
</body>
</html>
"""
OTHER = """<!doctype html>
<title>Another page</title>
<p>Back to <a href="page.html#part">the part</a>.</p>
"""
ROBOTS = "User-agent: *\nDisallow: /private/\n"
CHALLENGE = "<!doctype html><title>Just a moment...</title><p>Just a moment...</p>"


def write_files(html: Path) -> None:
    """The static files."""
    for folder in ("auth", "private", "folder", "forbidden", "gzip", "no-range"):
        (html / folder).mkdir(parents=True)
    (html / "page.html").write_text(PAGE)
    (html / "other.html").write_text(OTHER)
    (html / "index.html").write_text(OTHER)
    (html / "robots.txt").write_text(ROBOTS)
    (html / "empty").touch()
    (html / "file.bin").write_bytes(random.Random(2).randbytes(FILE_BYTES))
    with (html / "big").open("wb") as big:
        big.truncate(BIG_BYTES)
    for copy in ("auth/page.html", "private/page.html", "forbidden/page.html"):
        shutil.copy(html / "page.html", html / copy)
    shutil.copy(html / "page.html", html / "gzip/page.html")
    shutil.copy(html / "page.html", html / "folder/index.html")
    shutil.copy(html / "file.bin", html / "no-range/file.bin")


def locations(*, http: int, https: int) -> list[str]:
    """The answers that are no files, as nginx configuration."""
    exact = {
        **{f"/status/{code}": _status(code) for code in range(200, 600)},
        **_chains(),
        **_refusals(),
        "/redirect-404": "return 301 /status/404;",
        "/redirect-host": f"return 301 http://127.0.0.2:{http}/page.html;",
        "/redirect-https": f"return 301 https://$host:{https}/page.html;",
        "/redirect-fragment": "return 302 /page.html#part;",
        "/redirect-private": "return 302 /private/page.html;",
    }
    return [
        *(f"location = {path} {{ {body} }}" for path, body in exact.items()),
        *(
            f"location ~ ^/redirect/{code}(?<to{code}>/.*)$ "
            f"{{ return {code} $to{code}$is_args$args; }}"
            for code in (301, 302, 303, 307, 308)
        ),
        "location /redirect-relative { absolute_redirect off; return 301 /page.html; }",
        'location /auth/ { auth_basic "ronda"; auth_basic_user_file users; }',
        "location /forbidden/ { deny all; }",
        "location /gzip/ { gzip on; gzip_min_length 1; }",
        "location /no-range/ { max_ranges 0; }",
        f'location {MARKER} {{ return 200 "seen"; }}',
    ]


def _status(code: int) -> str:
    match code:
        case 204 | 304:
            return f"return {code};"
        case 301 | 302 | 303 | 307 | 308:
            return f"return {code} /page.html;"
        case _:
            # With a text nginx sends also those codes that it keeps for itself (444).
            return f'return {code} "status {code}\\n";'


def _chains() -> dict[str, str]:
    chains = {}
    for name, codes in (
        ("chain", [301] * 5),
        ("chain-long", [302] * LONG_CHAIN),
        ("chain-mixed", [301, 302, 308]),
    ):
        for hop, code in enumerate(codes, 1):
            after = f"/{name}/{hop + 1}" if hop < len(codes) else "/page.html"
            chains[f"/{name}/{hop}"] = f"return {code} {after};"
    return chains | {
        "/loop/a": "return 302 /loop/b;",
        "/loop/b": "return 302 /loop/a;",
        "/self": "return 301 /self;",
    }


def _refusals() -> dict[str, str]:
    refusals = {
        "/throttled": 'add_header Retry-After 1 always; return 429 "slow down\\n";',
        "/unavailable": 'add_header Retry-After 1 always; return 503 "later\\n";',
        # nginx cannot say "server: cloudflare"; the rude server's /challenge does.
        "/challenge": "add_header cf-mitigated challenge always; "
        f"default_type text/html; return 403 '{CHALLENGE}';",
    }
    for code in (400, 403, 404, 405, 500, 501, 503):
        refusals[f"/no-head/{code}"] = (
            f"if ($request_method = HEAD) {{ return {code}; }} "
            "rewrite ^ /page.html break;"
        )
    return refusals
