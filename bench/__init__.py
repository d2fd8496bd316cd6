"""Side-by-side measurements of Splice, its peers, and what the machine allows at most: `python -m bench`."""
