"""Random expressions, most of them valid and some invalid, with the names and values they use."""

from tables import KEY_VALUES

ATTRIBUTES = ["x", "y", "z", "m", "li", "s", "n", "pk", "sk", "g", "h", "k"]
RESERVED = ["name", "size", "data"]
COMPARATORS = ["=", "<>", "<", "<=", ">", ">="]
TYPES = ["S", "N", "B", "SS", "NS", "BS", "BOOL", "NULL", "L", "M"]
TEXTS = ["a", "b", "ab", "", "é", "1", "zz"]
NUMBERS = ["0", "1", "-1", "2.50", "1e3", "10", "-2.5", "123456789012345678901234567890", "1e-5"]
BINARIES = ["YQ==", "YWI=", "/w==", ""]


class Generator:
    """Generates random values and expressions; `random` decides everything."""

    def __init__(self, random):
        self.random = random

    def chance(self, part):
        return self.random.random() < part

    def pick(self, choices):
        return self.random.choice(choices)

    def value(self, depth=2):
        """An attribute value; one in a hundred is invalid."""
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
        """A value for a key of this type; rarely an invalid one."""
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
    """The expressions of one request, which share names and values."""

    def __init__(self, generator):
        self.generator = generator
        self.names = {}
        self.values = {}

    def members(self):
        """The request members with the names and values of the expressions."""
        generator, members = self.generator, {}
        if generator.chance(0.01):
            self.names["#unused"] = "x"
        if generator.chance(0.01):
            self.values[":unused"] = {"S": "a"}
        if generator.chance(0.005) and self.values:
            self.values.popitem()
        if self.names:
            members["ExpressionAttributeNames"] = self.names
        if self.values:
            members["ExpressionAttributeValues"] = self.values
        return members

    def name(self, name):
        if self.generator.chance(0.2) or name in RESERVED and self.generator.chance(0.9):
            placeholder = f"#{name}"
            self.names[placeholder] = name
            return placeholder
        return name

    def bind(self, value):
        placeholder = f":v{len(self.values)}"
        self.values[placeholder] = value
        return placeholder

    def root(self):
        return self.generator.pick(RESERVED) if self.generator.chance(0.02) else self.generator.pick(ATTRIBUTES)

    def path(self, roots=None):
        generator = self.generator
        text = self.name(generator.pick(roots) if roots else self.root())
        while generator.chance(0.2):
            text += f"[{generator.random.randint(0, 2)}]" if generator.chance(0.4) else "." + self.name(generator.pick(["x", "y", "li"]))
        return text

    def operand(self):
        chance = self.generator.random.random()
        if chance < 0.5:
            return self.path()
        if chance < 0.95:
            return self.bind(self.generator.value(1))
        return f"size({self.path()})"

    def condition(self, depth=2):
        generator = self.generator
        if depth and generator.chance(0.35):
            form = generator.pick(["and", "or", "not", "parentheses"])
            if form == "not":
                return f"NOT {self.condition(depth - 1)}"
            if form == "parentheses":
                return f"({self.condition(depth - 1)})"
            return f"{self.condition(depth - 1)} {form.upper()} {self.condition(depth - 1)}"
        return self.test()

    def test(self):
        generator = self.generator
        form = generator.pick(["compare"] * 4 + ["between", "in", "exists", "not_exists", "type", "begins", "contains", "invalid"])
        if form == "compare":
            return f"{self.operand()} {generator.pick(COMPARATORS)} {self.operand()}"
        if form == "between":
            kind = generator.pick(["S", "N"])
            bounds = [self.bind(generator.value_of(kind)), self.bind(generator.value_of(kind))]
            if generator.chance(0.2):
                bounds[0] = self.operand()
            return f"{self.operand()} BETWEEN {bounds[0]} AND {bounds[1]}"
        if form == "in":
            return f"{self.operand()} IN ({', '.join(self.operand() for _ in range(generator.random.randint(1, 3)))})"
        if form == "exists":
            return f"attribute_exists({self.path()})"
        if form == "not_exists":
            return f"attribute_not_exists({self.path()})"
        if form == "type":
            return f"attribute_type({self.path()}, {self.bind({'S': generator.pick(TYPES)})})"
        if form == "begins":
            return f"begins_with({self.path()}, {self.bind(generator.value_of(generator.pick(['S', 'S', 'B', 'N'])))})"
        if form == "contains":
            return f"contains({self.path()}, {self.operand()})"
        return self.invalid_test()

    def invalid_test(self):
        generator = self.generator
        if generator.chance(0.8):
            return f"{self.path()} = {self.bind(generator.value(1))}"
        return generator.pick(
            [
                lambda: f"attribute_exists({self.bind(generator.value(0))})",
                lambda: f"attribute_exists({self.path()}, {self.path()})",
                lambda: f"unknown({self.path()})",
                lambda: f"size({self.path()})",
                lambda: f"(({self.path()} = {self.bind(generator.value(0))}))",
                lambda: f"{self.path()} =",
                lambda: f"begins_with({self.path()})",
                lambda: f"attribute_type({self.path()}, {self.bind({'S': 'X'})})",
                lambda: f"{self.path()} = :undefined",
                lambda: "#undefined = x",
                lambda: f"contains({self.bind({'S': 'ab'})}, {self.bind({'S': 'a'})})",
            ]
        )()

    def key_condition(self, table, partition, sort):
        generator = self.generator
        value = generator.key_value(table.types[partition])
        parts = [f"{self.name(partition)} = {self.bind(value)}"]
        if sort and generator.chance(0.5):
            parts.append(self.sort_condition(sort, table.types[sort]))
        if generator.chance(0.03):
            parts.append(self.test())
        if generator.chance(0.02):
            parts[0] = f"{self.name(partition)} {generator.pick(COMPARATORS[1:])} {self.bind(value)}"
        if generator.chance(0.2):
            parts.reverse()
        return " AND ".join(parts)

    def sort_condition(self, sort, kind):
        generator = self.generator
        name = self.name(sort)
        form = generator.pick(["compare", "compare", "between", "begins"])
        if form == "between":
            return f"{name} BETWEEN {self.bind(generator.key_value(kind))} AND {self.bind(generator.key_value(kind))}"
        if form == "begins":
            return f"begins_with({name}, {self.bind(generator.key_value(kind))})"
        return f"{name} {generator.pick(COMPARATORS)} {self.bind(generator.key_value(kind))}"

    def projection(self):
        return ", ".join(self.path() for _ in range(self.generator.random.randint(1, 3)))

    def update(self, table):
        generator = self.generator
        clauses = generator.random.sample(["SET", "REMOVE", "ADD", "DELETE"], generator.pick([1, 1, 1, 2]))
        if generator.chance(0.01):
            clauses.append(clauses[0])
        return " ".join(self.clause(clause) for clause in clauses)

    def target(self):
        roots = ["x", "y", "z", "m", "li", "s", "n"] if self.generator.chance(0.9) else ATTRIBUTES
        return self.path(roots)

    def clause(self, clause):
        generator = self.generator
        count = generator.pick([1, 1, 2])
        if clause == "SET":
            return "SET " + ", ".join(f"{self.target()} = {self.assigned()}" for _ in range(count))
        if clause == "REMOVE":
            return "REMOVE " + ", ".join(self.target() for _ in range(count))
        kinds = ["N", "SS", "NS"] if clause == "ADD" else ["SS", "NS"]
        values = [self.bind(generator.value_of(generator.pick(kinds)) if generator.chance(0.95) else generator.value(1)) for _ in range(count)]
        return f"{clause} " + ", ".join(f"{self.target()} {value}" for value in values)

    def assigned(self):
        generator = self.generator
        form = generator.pick(["value"] * 4 + ["path", "sum", "if", "append", "nested"])
        if form == "value":
            return self.bind(generator.value())
        if form == "path":
            return self.path()
        if form == "sum":
            return f"{self.number()} {generator.pick('+-')} {self.number()}"
        if form == "if":
            return f"if_not_exists({self.path()}, {self.path() if generator.chance(0.3) else self.bind(generator.value(1))})"
        if form == "append":
            lists = [self.path(["li", "m", "x"]), self.bind(generator.value_of("L", 1))]
            generator.random.shuffle(lists)
            return f"list_append({lists[0]}, {lists[1]})"
        return f"if_not_exists({self.path()}, {self.number()}) {generator.pick('+-')} {self.number()}"

    def number(self):
        generator = self.generator
        if generator.chance(0.4):
            return self.path(["n", "x", "y"])
        return self.bind(generator.value_of("N") if generator.chance(0.95) else generator.value(0))
