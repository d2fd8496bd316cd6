"""A server whose third-party library is not installed."""

import library_that_nobody_has  # type: ignore[import-not-found]  # that is what is tested

make = library_that_nobody_has.make
