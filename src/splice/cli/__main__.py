"""`python -m splice.cli` is the `splice` command, for when only the interpreter is at hand."""

import sys

from splice.cli import main

sys.exit(main())
