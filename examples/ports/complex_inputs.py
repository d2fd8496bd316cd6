"""Arguments that are models with lists of models and limits in them: the port of a FastMCP example.

splice call examples/ports/complex_inputs.py name_plants bed='{"place": "south", "plants": [{"name": "Rose"}]}'
"""

from typing import Annotated

from pydantic import BaseModel, Field

from splice import Server

server = Server("garden")


class Plant(BaseModel):
    """Something that grows."""

    name: Annotated[str, Field(max_length=10)]
    height: Annotated[float, Field(gt=0, description="in metres")] = 0.3


class Bed(BaseModel):
    """Where it grows."""

    place: str
    plants: list[Plant]


@server.tool
def name_plants(bed: Bed, more: Annotated[list[str], Field(max_length=3)] = []) -> list[str]:  # noqa: B006 - it is read
    """List all names of a bed, and some more."""
    return [plant.name for plant in bed.plants] + more


@server.tool
def tallest(bed: Bed) -> Plant:
    """Find the plant that is nearest to the sky."""
    return max(bed.plants, key=lambda plant: plant.height)


if __name__ == "__main__":
    server.run()
