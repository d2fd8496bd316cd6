"""The travel example: four programs that plan, book, and write down a journey by the Model Context Protocol."""
