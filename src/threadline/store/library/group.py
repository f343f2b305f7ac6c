"""Group: some methods of the library, on one database."""

from threadline.database.port import Database


class Group:
    """Methods of one subject. Get it from a store, such as `store.turns`."""

    def __init__(self, database: Database) -> None:
        """Use a database."""
        self._db = database
