"""A browser whose user agrees at once: opens a URL and follows where it leads.

The variable `BROWSER` names it for `webbrowser`, with a `&` behind it. It tries for a while: some clients open one
before they listen for its return.
"""

import sys
import time
import urllib.error
import urllib.request

for _ in range(100):
    try:
        with urllib.request.urlopen(sys.argv[1], timeout=10) as page:
            page.read(65536)
    except urllib.error.HTTPError:
        raise
    except urllib.error.URLError:
        time.sleep(0.1)
    else:
        break
