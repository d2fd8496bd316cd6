"""Uses features: what an application that talks to servers uses."""
