"""The least a Scrapy user writes to see every page of a site.

`scrapy runspider bench/spider.py -a url=…`. What its documentation advises for speed
is set (no log, no cookies, no console), and nothing is done with a page but to follow
its links.
"""

from collections.abc import Iterator
from typing import Any, ClassVar
from urllib.parse import urlsplit

import scrapy
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor

AT_ONCE = 100


class Pages(scrapy.Spider):
    """Follows every link that stays on the host of the first page."""

    name = "pages"
    custom_settings: ClassVar[dict[str, Any]] = {
        "CONCURRENT_REQUESTS": AT_ONCE,
        "CONCURRENT_REQUESTS_PER_DOMAIN": AT_ONCE,
        "COOKIES_ENABLED": False,
        "DEPTH_LIMIT": 0,
        "DOWNLOAD_DELAY": 0,
        "LOG_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
        "RETRY_ENABLED": False,
        "ROBOTSTXT_OBEY": False,
        "TELNETCONSOLE_ENABLED": False,
    }

    def __init__(self, url: str) -> None:
        super().__init__()
        self.start_urls = [url]
        self._links = LinkExtractor(allow_domains=[urlsplit(url).netloc])

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        for link in self._links.extract_links(response):
            yield scrapy.Request(link.url)
