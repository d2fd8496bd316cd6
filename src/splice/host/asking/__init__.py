"""A person in control: rules, approvals, and everything that servers and models ask."""
