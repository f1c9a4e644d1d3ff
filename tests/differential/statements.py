"""Random PartiQL statements."""

from expressions import COMPARATORS


def literal(value):
    """A value as PartiQL writes it; `None` where it has no literal."""
    (kind, content), = value.items() if len(value) == 1 else [(None, None)]
    if kind == "S":
        return "'" + content.replace("'", "''") + "'"
    if kind == "N":
        return content
    if kind == "BOOL":
        return "true" if content else "false"
    if kind == "NULL":
        return "NULL"
    if kind in ("SS", "NS"):
        members = [literal({kind[0]: member}) for member in content]
        return "<<" + ", ".join(members) + ">>"
    if kind == "L":
        members = [literal(member) for member in content]
        return None if None in members else "[" + ", ".join(members) + "]"
    if kind == "M":
        members = {name: literal(member) for name, member in content.items()}
        if None in members.values():
            return None
        return "{" + ", ".join(f"'{name}': {text}" for name, text in members.items()) + "}"
    return None


class StatementMaker:
    def __init__(self, maker):
        self.maker = maker

    def statement(self, table, reads=True, writes=True, single=False):
        """A statement with its parameters."""
        self.parameters = []
        forms = ["select"] * 3 * reads + ["insert", "update", "update", "delete"] * writes
        text = getattr(self, self.maker.pick(forms))(table, single)
        return {"Statement": text, **({"Parameters": self.parameters} if self.parameters else {})}

    def value(self, value):
        text = literal(value)
        if text is None or self.maker.chance(0.2):
            self.parameters.append(value)
            return "?"
        return text

    def key(self, table):
        names = table.key[: -1 if self.maker.chance(0.03) else None]
        terms = [f"{name} = {self.value(self.maker.key_value(table.types[name]))}" for name in names]
        return " AND ".join(terms) or "x = 1"

    def path(self):
        maker = self.maker
        text = maker.pick(["x", "y", "z", "m", "li", "n", "s"])
        if maker.chance(0.2):
            text += maker.pick([".x", "[0]", ".li[0]"])
        return text

    def test(self):
        maker = self.maker
        form = maker.pick(["compare"] * 3 + ["between", "in", "missing", "begins", "contains", "type", "size"])
        if form == "compare":
            return f"{self.path()} {maker.pick(COMPARATORS)} {self.value(maker.value(0))}"
        if form == "between":
            return f"{self.path()} BETWEEN {self.value(maker.value_of('N'))} AND {self.value(maker.value_of('N'))}"
        if form == "in":
            return f"{self.path()} IN [{self.value(maker.value(0))}, {self.value(maker.value(0))}]"
        if form == "missing":
            return f"{self.path()} IS {maker.pick(['', 'NOT '])}MISSING"
        if form == "begins":
            return f"begins_with({self.path()}, {self.value(maker.value_of('S'))})"
        if form == "contains":
            return f"contains({self.path()}, {self.value(maker.value(0))})"
        if form == "type":
            return f"attribute_type({self.path()}, {self.value({'S': maker.pick(['S', 'N', 'M', 'X'])})})"
        return f"size({self.path()}) > 1"

    def where(self, table, single):
        text = self.key(table)
        if self.maker.chance(0.1 if single else 0.3):
            text += f" {self.maker.pick(['AND', 'AND', 'AND', 'OR'])} {self.test()}"
        return text

    def select(self, table, single):
        maker = self.maker
        columns = "*" if maker.chance(0.5) else ", ".join(self.path() for _ in range(maker.pick([1, 2])))
        source = f'"{table.name}"'
        if single:
            return f"SELECT {columns} FROM {source} WHERE {self.where(table, True)}"
        form = maker.pick(["key", "key", "partition", "index", "scan"])
        if form == "key":
            where = self.where(table, False)
        elif form == "partition":
            where = f"{table.hash} = {self.value(maker.key_value(table.types[table.hash]))}"
            if maker.chance(0.3):
                where += f" AND {self.test()}"
        elif form == "index" and table.indexes:
            index = maker.pick(table.indexes)
            source += f'."{index.name}"'
            where = f"{index.hash} = {self.value(maker.key_value(table.types[index.hash]))}"
            if maker.chance(0.3):
                where += f" AND {self.test()}"
        else:
            where = self.test()
        return f"SELECT {columns} FROM {source} WHERE {where}"

    def insert(self, table, _):
        maker = self.maker
        item = maker.item(table)
        members = ", ".join(f"'{name}': {self.value(value)}" for name, value in item.items())
        return f'INSERT INTO "{table.name}" VALUE {{{members}}}'

    def update(self, table, single):
        maker = self.maker
        actions = [self.action() for _ in range(maker.pick([1, 1, 2]))]
        returning = "" if single or maker.chance(0.5) else " RETURNING " + maker.pick(["ALL NEW *", "ALL OLD *", "MODIFIED NEW *", "MODIFIED OLD *"])
        return f'UPDATE "{table.name}" {" ".join(actions)} WHERE {self.where(table, True)}{returning}'

    def action(self):
        maker = self.maker
        path = self.path()
        form = maker.pick(["set", "set", "remove", "add", "delete", "append", "sum"])
        if form == "set":
            return f"SET {path} = {self.value(maker.value(1))}"
        if form == "remove":
            return f"REMOVE {path}"
        if form == "append":
            return f"SET {path} = list_append({path}, {self.value(maker.value_of('L', 1))})"
        if form == "sum":
            return f"SET {path} = {path} {maker.pick('+-')} {self.value(maker.value_of('N'))}"
        kind = maker.pick(["SS", "NS"])
        return f"SET {path} = set_{form}({path}, {self.value(maker.value_of(kind))})"

    def delete(self, table, single):
        returning = "" if single or self.maker.chance(0.5) else " RETURNING ALL OLD *"
        return f'DELETE FROM "{table.name}" WHERE {self.where(table, True)}{returning}'
