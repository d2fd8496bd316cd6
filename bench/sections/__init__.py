"""What is measured: one file per table."""

from bench.sections.calls_http import HTTP
from bench.sections.calls_memory import MEMORY
from bench.sections.calls_stdio import STDIO
from bench.sections.clients import CLIENTS
from bench.sections.cold import COLD
from bench.sections.host import HOST
from bench.sections.imports import IMPORTS
from bench.sections.many_tools import MANY_TOOLS
from bench.sections.servers import SERVERS
from bench.sections.streams import STREAMS

SECTIONS = (IMPORTS, COLD, STDIO, HTTP, MEMORY, CLIENTS, MANY_TOOLS, STREAMS, SERVERS, HOST)
