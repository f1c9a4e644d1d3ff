"""Random expressions, most of them right and some of them wrong, with the names and values they use."""

from tables import KEY_VALUES

ATTRIBUTES = ["x", "y", "z", "m", "li", "s", "n", "pk", "sk", "g", "h", "k"]
RESERVED = ["name", "size", "data"]
COMPARATORS = ["=", "<>", "<", "<=", ">", ">="]
TYPES = ["S", "N", "B", "SS", "NS", "BS", "BOOL", "NULL", "L", "M"]
TEXTS = ["a", "b", "ab", "", "é", "1", "zz"]
NUMBERS = ["0", "1", "-1", "2.50", "1e3", "10", "-2.5", "123456789012345678901234567890", "1e-5"]
BINARIES = ["YQ==", "YWI=", "/w==", ""]


class Maker:
    """Makes random values and expressions; `random` decides everything."""

    def __init__(self, random):
        self.random = random

    def chance(self, part):
        return self.random.random() < part

    def pick(self, choices):
        return self.random.choice(choices)

    def value(self, depth=2):
        """An attribute value; one in a hundred is not one."""
        if self.chance(0.01):
            return self.pick([{"SS": []}, {"SS": ["a", "a"]}, {"N": "x"}, {}, {"S": "a", "N": "1"}, {"N": ""}, {"NS": ["1", "1.0"]}])
        kind = self.pick(["S", "S", "N", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"])
        return self.value_of(kind, depth)

    def value_of(self, kind, depth=2):
        if kind == "S":
            return {"S": self.pick(TEXTS)}
        if kind == "N":
            return {"N": self.pick(NUMBERS)}
        if kind == "B":
            return {"B": self.pick(BINARIES)}
        if kind == "BOOL":
            return {"BOOL": self.pick([True, False])}
        if kind == "NULL":
            return {"NULL": True}
        if kind == "SS":
            return {"SS": self.random.sample(TEXTS, self.random.randint(1, 3))}
        if kind == "NS":
            return {"NS": self.random.sample(["0", "1", "-1", "2.5", "10"], self.random.randint(1, 3))}
        if kind == "BS":
            return {"BS": self.random.sample(BINARIES, self.random.randint(1, 2))}
        count = self.random.randint(0, 3 if depth else 0)
        if kind == "L":
            return {"L": [self.value(depth - 1) for _ in range(count)]}
        return {"M": {self.pick(["x", "y", "li"]): self.value(depth - 1) for _ in range(count)}}

    def key_value(self, kind):
        """A value for a key of this type; seldom one that cannot be."""
        if self.chance(0.02):
            value = self.value(0)
            return {kind: ""} if kind in value else value
        return self.pick(KEY_VALUES[kind])

    def key(self, table):
        key = {name: self.key_value(table.types[name]) for name in table.key}
        if self.chance(0.02):
            self.pick([lambda: key.popitem(), lambda: key.update(extra={"S": "a"})])()
        return key

    def item(self, table):
        item = self.key(table)
        for name, kind in table.types.items():
            if name not in item and self.chance(0.7):
                item[name] = self.key_value(kind) if self.chance(0.97) else self.value(0)
        for name in ["x", "y", "z"]:
            if self.chance(0.6):
                item[name] = self.value()
        if self.chance(0.6):
            item["m"] = self.value_of("M")
        if self.chance(0.6):
            item["li"] = self.value_of("L")
        if self.chance(0.4):
            item["s"] = self.value_of(self.pick(["SS", "NS"]))
        if self.chance(0.5):
            item["n"] = self.value_of("N")
        return item


class Expression:
    """One request's expressions: they share names and values."""

    def __init__(self, maker):
        self.maker = maker
        self.names = {}
        self.values = {}

    def members(self):
        """The members that go with the expressions."""
        maker, members = self.maker, {}
        if maker.chance(0.01):
            self.names["#unused"] = "x"
        if maker.chance(0.01):
            self.values[":unused"] = {"S": "a"}
        if maker.chance(0.005) and self.values:
            self.values.popitem()
        if self.names:
            members["ExpressionAttributeNames"] = self.names
        if self.values:
            members["ExpressionAttributeValues"] = self.values
        return members

    def name(self, name):
        if self.maker.chance(0.2) or name in RESERVED and self.maker.chance(0.9):
            placeholder = f"#{name}"
            self.names[placeholder] = name
            return placeholder
        return name

    def bind(self, value):
        placeholder = f":v{len(self.values)}"
        self.values[placeholder] = value
        return placeholder

    def root(self):
        return self.maker.pick(RESERVED) if self.maker.chance(0.02) else self.maker.pick(ATTRIBUTES)

    def path(self, roots=None):
        maker = self.maker
        text = self.name(maker.pick(roots) if roots else self.root())
        while maker.chance(0.2):
            text += f"[{maker.random.randint(0, 2)}]" if maker.chance(0.4) else "." + self.name(maker.pick(["x", "y", "li"]))
        return text

    def operand(self):
        chance = self.maker.random.random()
        if chance < 0.5:
            return self.path()
        if chance < 0.95:
            return self.bind(self.maker.value(1))
        return f"size({self.path()})"

    def condition(self, depth=2):
        maker = self.maker
        if depth and maker.chance(0.35):
            form = maker.pick(["and", "or", "not", "parentheses"])
            if form == "not":
                return f"NOT {self.condition(depth - 1)}"
            if form == "parentheses":
                return f"({self.condition(depth - 1)})"
            return f"{self.condition(depth - 1)} {form.upper()} {self.condition(depth - 1)}"
        return self.test()

    def test(self):
        maker = self.maker
        form = maker.pick(["compare"] * 4 + ["between", "in", "exists", "not_exists", "type", "begins", "contains", "wrong"])
        if form == "compare":
            return f"{self.operand()} {maker.pick(COMPARATORS)} {self.operand()}"
        if form == "between":
            kind = maker.pick(["S", "N"])
            bounds = [self.bind(maker.value_of(kind)), self.bind(maker.value_of(kind))]
            if maker.chance(0.2):
                bounds[0] = self.operand()
            return f"{self.operand()} BETWEEN {bounds[0]} AND {bounds[1]}"
        if form == "in":
            return f"{self.operand()} IN ({', '.join(self.operand() for _ in range(maker.random.randint(1, 3)))})"
        if form == "exists":
            return f"attribute_exists({self.path()})"
        if form == "not_exists":
            return f"attribute_not_exists({self.path()})"
        if form == "type":
            return f"attribute_type({self.path()}, {self.bind({'S': maker.pick(TYPES)})})"
        if form == "begins":
            return f"begins_with({self.path()}, {self.bind(maker.value_of(maker.pick(['S', 'S', 'B', 'N'])))})"
        if form == "contains":
            return f"contains({self.path()}, {self.operand()})"
        return self.wrong_test()

    def wrong_test(self):
        maker = self.maker
        if maker.chance(0.8):
            return f"{self.path()} = {self.bind(maker.value(1))}"
        return maker.pick(
            [
                lambda: f"attribute_exists({self.bind(maker.value(0))})",
                lambda: f"attribute_exists({self.path()}, {self.path()})",
                lambda: f"unknown({self.path()})",
                lambda: f"size({self.path()})",
                lambda: f"(({self.path()} = {self.bind(maker.value(0))}))",
                lambda: f"{self.path()} =",
                lambda: f"begins_with({self.path()})",
                lambda: f"attribute_type({self.path()}, {self.bind({'S': 'X'})})",
                lambda: f"{self.path()} = :undefined",
                lambda: "#undefined = x",
                lambda: f"contains({self.bind({'S': 'ab'})}, {self.bind({'S': 'a'})})",
            ]
        )()

    def key_condition(self, table, partition, sort):
        maker = self.maker
        value = maker.key_value(table.types[partition])
        parts = [f"{self.name(partition)} = {self.bind(value)}"]
        if sort and maker.chance(0.5):
            parts.append(self.sort_condition(sort, table.types[sort]))
        if maker.chance(0.03):
            parts.append(self.test())
        if maker.chance(0.02):
            parts[0] = f"{self.name(partition)} {maker.pick(COMPARATORS[1:])} {self.bind(value)}"
        if maker.chance(0.2):
            parts.reverse()
        return " AND ".join(parts)

    def sort_condition(self, sort, kind):
        maker = self.maker
        name = self.name(sort)
        form = maker.pick(["compare", "compare", "between", "begins"])
        if form == "between":
            return f"{name} BETWEEN {self.bind(maker.key_value(kind))} AND {self.bind(maker.key_value(kind))}"
        if form == "begins":
            return f"begins_with({name}, {self.bind(maker.key_value(kind))})"
        return f"{name} {maker.pick(COMPARATORS)} {self.bind(maker.key_value(kind))}"

    def projection(self):
        return ", ".join(self.path() for _ in range(self.maker.random.randint(1, 3)))

    def update(self, table):
        maker = self.maker
        clauses = maker.random.sample(["SET", "REMOVE", "ADD", "DELETE"], maker.pick([1, 1, 1, 2]))
        if maker.chance(0.01):
            clauses.append(clauses[0])
        return " ".join(self.clause(clause) for clause in clauses)

    def target(self):
        roots = ["x", "y", "z", "m", "li", "s", "n"] if self.maker.chance(0.9) else ATTRIBUTES
        return self.path(roots)

    def clause(self, clause):
        maker = self.maker
        count = maker.pick([1, 1, 2])
        if clause == "SET":
            return "SET " + ", ".join(f"{self.target()} = {self.assigned()}" for _ in range(count))
        if clause == "REMOVE":
            return "REMOVE " + ", ".join(self.target() for _ in range(count))
        kinds = ["N", "SS", "NS"] if clause == "ADD" else ["SS", "NS"]
        values = [self.bind(maker.value_of(maker.pick(kinds)) if maker.chance(0.95) else maker.value(1)) for _ in range(count)]
        return f"{clause} " + ", ".join(f"{self.target()} {value}" for value in values)

    def assigned(self):
        maker = self.maker
        form = maker.pick(["value"] * 4 + ["path", "sum", "if", "append", "nested"])
        if form == "value":
            return self.bind(maker.value())
        if form == "path":
            return self.path()
        if form == "sum":
            return f"{self.number()} {maker.pick('+-')} {self.number()}"
        if form == "if":
            return f"if_not_exists({self.path()}, {self.path() if maker.chance(0.3) else self.bind(maker.value(1))})"
        if form == "append":
            lists = [self.path(["li", "m", "x"]), self.bind(maker.value_of("L", 1))]
            maker.random.shuffle(lists)
            return f"list_append({lists[0]}, {lists[1]})"
        return f"if_not_exists({self.path()}, {self.number()}) {maker.pick('+-')} {self.number()}"

    def number(self):
        maker = self.maker
        if maker.chance(0.4):
            return self.path(["n", "x", "y"])
        return self.bind(maker.value_of("N") if maker.chance(0.95) else maker.value(0))
