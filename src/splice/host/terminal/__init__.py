"""The terminal face: a full-screen app (`app.py`), and lines for pipes and screen readers (`plain.py`)."""
