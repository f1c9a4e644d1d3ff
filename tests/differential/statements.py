"""Random PartiQL statements."""

from expressions import COMPARATORS


def literal(value):
    """The PartiQL literal of a value; `None` if there is none."""
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


class StatementGenerator:
    def __init__(self, generator):
        self.generator = generator

    def statement(self, table, reads=True, writes=True, single=False):
        """A statement with its parameters."""
        self.parameters = []
        forms = ["select"] * 3 * reads + ["insert", "update", "update", "delete"] * writes
        text = getattr(self, self.generator.pick(forms))(table, single)
        return {"Statement": text, **({"Parameters": self.parameters} if self.parameters else {})}

    def value(self, value):
        text = literal(value)
        if text is None or self.generator.chance(0.2):
            self.parameters.append(value)
            return "?"
        return text

    def key(self, table):
        names = table.key[: -1 if self.generator.chance(0.03) else None]
        terms = [f"{name} = {self.value(self.generator.key_value(table.types[name]))}" for name in names]
        return " AND ".join(terms) or "x = 1"

    def path(self):
        generator = self.generator
        text = generator.pick(["x", "y", "z", "m", "li", "n", "s"])
        if generator.chance(0.2):
            text += generator.pick([".x", "[0]", ".li[0]"])
        return text

    def test(self):
        generator = self.generator
        form = generator.pick(["compare"] * 3 + ["between", "in", "missing", "begins", "contains", "type", "size"])
        if form == "compare":
            return f"{self.path()} {generator.pick(COMPARATORS)} {self.value(generator.value(0))}"
        if form == "between":
            return f"{self.path()} BETWEEN {self.value(generator.value_of('N'))} AND {self.value(generator.value_of('N'))}"
        if form == "in":
            return f"{self.path()} IN [{self.value(generator.value(0))}, {self.value(generator.value(0))}]"
        if form == "missing":
            return f"{self.path()} IS {generator.pick(['', 'NOT '])}MISSING"
        if form == "begins":
            return f"begins_with({self.path()}, {self.value(generator.value_of('S'))})"
        if form == "contains":
            return f"contains({self.path()}, {self.value(generator.value(0))})"
        if form == "type":
            return f"attribute_type({self.path()}, {self.value({'S': generator.pick(['S', 'N', 'M', 'X'])})})"
        return f"size({self.path()}) > 1"

    def where(self, table, single):
        text = self.key(table)
        if self.generator.chance(0.1 if single else 0.3):
            text += f" {self.generator.pick(['AND', 'AND', 'AND', 'OR'])} {self.test()}"
        return text

    def select(self, table, single):
        generator = self.generator
        columns = "*" if generator.chance(0.5) else ", ".join(self.path() for _ in range(generator.pick([1, 2])))
        source = f'"{table.name}"'
        if single:
            return f"SELECT {columns} FROM {source} WHERE {self.where(table, True)}"
        form = generator.pick(["key", "key", "partition", "index", "scan"])
        if form == "key":
            where = self.where(table, False)
        elif form == "partition":
            where = f"{table.hash} = {self.value(generator.key_value(table.types[table.hash]))}"
            if generator.chance(0.3):
                where += f" AND {self.test()}"
        elif form == "index" and table.indexes:
            index = generator.pick(table.indexes)
            source += f'."{index.name}"'
            where = f"{index.hash} = {self.value(generator.key_value(table.types[index.hash]))}"
            if generator.chance(0.3):
                where += f" AND {self.test()}"
        else:
            where = self.test()
        return f"SELECT {columns} FROM {source} WHERE {where}"

    def insert(self, table, _):
        generator = self.generator
        item = generator.item(table)
        members = ", ".join(f"'{name}': {self.value(value)}" for name, value in item.items())
        return f'INSERT INTO "{table.name}" VALUE {{{members}}}'

    def update(self, table, single):
        generator = self.generator
        actions = [self.action() for _ in range(generator.pick([1, 1, 2]))]
        returning = "" if single or generator.chance(0.5) else " RETURNING " + generator.pick(["ALL NEW *", "ALL OLD *", "MODIFIED NEW *", "MODIFIED OLD *"])
        return f'UPDATE "{table.name}" {" ".join(actions)} WHERE {self.where(table, True)}{returning}'

    def action(self):
        generator = self.generator
        path = self.path()
        form = generator.pick(["set", "set", "remove", "add", "delete", "append", "sum"])
        if form == "set":
            return f"SET {path} = {self.value(generator.value(1))}"
        if form == "remove":
            return f"REMOVE {path}"
        if form == "append":
            return f"SET {path} = list_append({path}, {self.value(generator.value_of('L', 1))})"
        if form == "sum":
            return f"SET {path} = {path} {generator.pick('+-')} {self.value(generator.value_of('N'))}"
        kind = generator.pick(["SS", "NS"])
        return f"SET {path} = set_{form}({path}, {self.value(generator.value_of(kind))})"

    def delete(self, table, single):
        returning = "" if single or self.generator.chance(0.5) else " RETURNING ALL OLD *"
        return f'DELETE FROM "{table.name}" WHERE {self.where(table, True)}{returning}'
