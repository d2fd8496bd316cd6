"""The reference server that tells the time in any zone and converts between zones; `splice serve time` starts it."""
