"""What DynamoDB Local answers otherwise than DynamoDB, with the reason each.

Partita's side of a difference is what DynamoDB answers, as far as that is known: from its documentation, from tests of others
that were verified against it (ScyllaDB's Alternator, dynalite, the public conformance suite), or from what users reported.
`[?]` marks what nobody is known to have tried there.
"""

import re
from dataclasses import dataclass

KEY = (
    r"The provided key element does not match the schema|Type mismatch for (key|Index Key)|Missing the key"
    r"|empty (string|binary) value|The provided starting key is invalid|Condition parameter type does not match"
    r"|Key attribute's data type should match"
)
OPERAND = r"The document path provided|An operand in the update expression|refers to an attribute that does not exist"


@dataclass
class Refusals:
    """Both refuse, with texts like these."""

    reason: str
    theirs: str
    ours: str = ""

    def matches(self, operation, request, ours, theirs):
        if 200 in (ours[0], theirs[0]):
            return False
        return found(self.theirs, theirs) and found(self.ours, ours)


@dataclass
class Transactions:
    """Both refuse a transaction, by reasons."""

    reason: str
    differs: object

    def matches(self, operation, request, ours, theirs):
        if 200 in (ours[0], theirs[0]) or ours[1]["type"] != "TransactionCanceledException":
            return False
        return self.differs(ours[1], theirs[1])


@dataclass
class TheyAnswer:
    """Only Local answers; this is how Partita refuses."""

    reason: str
    ours: str
    request: str = ""

    def matches(self, operation, request, ours, theirs):
        return ours[0] != 200 and theirs[0] == 200 and found(self.ours, ours) and re.search(self.request, f"{operation} {request}")


@dataclass
class TheyRefuse:
    """Only Local refuses, like this."""

    reason: str
    theirs: str
    request: str = ""

    def matches(self, operation, request, ours, theirs):
        return ours[0] == 200 and theirs[0] != 200 and found(self.theirs, theirs) and re.search(self.request, f"{operation} {request}")


@dataclass
class Results:
    """Both answer."""

    reason: str
    differs: object

    def matches(self, operation, request, ours, theirs):
        return (ours[0], theirs[0]) == (200, 200) and self.differs(operation, request, ours[1], theirs[1])


def found(pattern, refusal):
    """Whether a refusal's type, message or reasons are like this."""
    answer = refusal[1]
    reasons = " ".join(f"{reason.get('Code')}: {reason.get('Message')}" for reason in answer.get("reasons", []))
    return re.search(pattern, f"{answer['type']}: {answer['message']} {reasons}") is not None


def same_reasons(ours, theirs):
    """The same codes in the same places; Local may have none."""
    if theirs["type"] != "TransactionCanceledException":
        return False
    return len(theirs.get("reasons", [])) < len(ours["reasons"]) or codes(ours) == codes(theirs)


def codes(answer):
    """Local calls a duplicate of an INSERT a ValidationError."""
    duplicate = lambda reason: "Duplicate primary key" in reason.get("Message", "")
    return ["DuplicateItem" if duplicate(reason) else reason["Code"] for reason in answer["reasons"]]


def conditions_below_keys(ours, theirs):
    if theirs["type"] != "TransactionCanceledException":
        return False
    pairs = zip(ours["reasons"], theirs["reasons"])
    return all(one["Code"] == two["Code"] or "must be scalars" in one.get("Message", "") for one, two in pairs)


def refused_at_once(ours, theirs):
    """Local tells one of the reasons, in its own words perhaps, or that an item comes twice."""
    reasons = [reason.get("Message", "") for reason in ours["reasons"]]
    local_words = r"Invalid attribute value type|conditions on the keys|multiple operations on one item|must be scalars|empty (string|binary) value|Type mismatch|Key attribute's data type|Key value must be"
    return theirs["message"] in reasons or re.search(local_words + "|" + OPERAND, theirs["message"]) is not None


def only_removes(request):
    """An update that creates no item on DynamoDB."""
    expression = request.get("UpdateExpression")
    if expression is not None:
        return re.search(r"(?i)\b(SET|ADD)\b", expression) is None
    updates = request.get("AttributeUpdates")
    return bool(updates) and all(update["Action"] == "DELETE" for update in updates.values())


def updates_of(operation, request):
    if operation == "UpdateItem":
        return [request]
    if operation == "TransactWriteItems":
        return [action["Update"] for action in request["TransactItems"] if "Update" in action]
    return []


def leaves_another_state(operation, request):
    """Whether Local may hold other items afterwards, though both answered the same: it creates an item where there is
    nothing to take away from."""
    return any(only_removes(update) for update in updates_of(operation, request))


def created_item_shown(operation, request, ours, theirs):
    return leaves_another_state(operation, request) and not ours.get("Attributes")


def last_row_of_range(operation, request, ours, theirs):
    if operation != "Query" or "Limit" not in request:
        return False
    return {**ours, "LastEvaluatedKey": None} == {**theirs, "LastEvaluatedKey": None} and "LastEvaluatedKey" in ours


def scan_of_global_index(operation, request, ours, theirs):
    return operation == "Scan" and "FilterExpression" in request and request.get("IndexName", "").startswith("gsi")


def statement_errors(operation, request, ours, theirs):
    """Batches of statements that fail in the same places, with other words."""
    if operation != "BatchExecuteStatement" or len(ours["Responses"]) != len(theirs["Responses"]):
        return False
    pairs = zip(ours["Responses"], theirs["Responses"])
    code = lambda one: one.get("Error", {}).get("Code")
    return all(one == two or code(one) and code(one) == code(two) for one, two in pairs)


def overlapping_columns(operation, request, ours, theirs):
    if operation != "BatchExecuteStatement":
        return False
    pairs = zip(ours["Responses"], theirs["Responses"])
    return all(one == two or "Two document paths" in str(two) or "Error" in one and "Error" in two for one, two in pairs)


def update_of_missing_item(operation, request, ours, theirs):
    """PartiQL's UPDATE and DELETE of an item that is not there."""
    if operation != "BatchExecuteStatement":
        return False
    pairs = zip(ours["Responses"], theirs["Responses"])
    return all(one == two or "ConditionalCheckFailed" in str(one) or "ConditionalCheckFailed" in str(two) for one, two in pairs)


PECULIARITIES = [
    # Local's own words for the same mistake.
    Refusals("Local's own words: a key of the wrong shape or type", r"Invalid attribute value type|The number of conditions on the keys is invalid|One of the required keys was not given a value|Type mismatch for (key|Index Key|attribute to update)|Key attribute's data type should match|Exclusive Start Key must have same size|Get Condition for key not in key list|Cannot have null key|Condition parameter type does not match|Key value must be of type S, N, or B|Key attribute should be present|may not contain null or empty values|^ValidationException: The provided starting key is invalid $", KEY),
    Refusals("Local's own words: ReturnValues", "Return values set to invalid value", "ReturnValues can only be"),
    Refusals("Local's own words: numbers", "A value provided cannot be converted into a number", "cannot be converted to a numeric value"),
    Refusals("Local's own words: a duplicate in a set has no full stop", r"Input collection .*contains duplicates", r"Input collection .*contains duplicates"),
    Refusals("Local's own words: operands of ADD and DELETE name an internal set of types", r"typeSet: ALLOWED_FOR", "Incorrect operand type"),
    Refusals("Local's own words: legacy ADD and DELETE spell types out", r"action (with value )?is not supported for the type", r"action (with value )?is not supported for the type"),
    Refusals("Local's own words: the name of the exception", r"DuplicateItem: ", "DuplicateItemException: "),
    Refusals("Local prints numbers as they were sent", r"BETWEEN operator requires|BETWEEN condition was provided", r"BETWEEN operator requires|BETWEEN condition was provided"),
    Refusals("Local lets the reserved words size and data through", "", "reserved keyword"),
    Refusals("Local takes names of paths and attributes from a set in another order", r"Two document paths (overlap|conflict)|does not project", r"Two document paths (overlap|conflict)|does not project"),
    Refusals("Local lists types and placeholders in another order", r"valid types: |unused in expressions: keys", r"valid types: |unused in expressions: keys"),
    Refusals("of several keys or paths that are wrong each tells another first", r"must be scalars|secondary index key|empty (string|binary) value", r"must be scalars|Type mismatch for Index Key|secondary index key|empty (string|binary) value|starting key"),
    Refusals("Local's own words: statements that are not well formed", "Statement wasn't well formed", "Statement wasn't well formed|Unexpected|Unsupported"),
    Refusals("Local names a variable where DynamoDB says what it is", "Unsupported data type: ", "Unsupported data type: "),
    Refusals("Local names another of the key attributes in a filter, or none in a key condition", "non-primary key attributes|missed key schema element|Conditions can be of length", "non-primary key attributes|missed key schema element|key condition not supported"),
    Transactions("Local's own words: transactions end reasons with a full stop, or leave some out", same_reasons),
    Transactions("Local evaluates conditions below a key in transactions", conditions_below_keys),
    Transactions("Local refuses a transaction at once for what DynamoDB cancels it for", refused_at_once),
    Refusals("Local cancels a transaction for what DynamoDB refuses at once", r"^TransactionCanceledException", r"^ValidationException: (Transaction request cannot include multiple operations|Validation failed in|Invalid \w+Expression|.*(empty (string|binary) value|Input collection|may not be empty|Supplied AttributeValue|numeric value|ExpressionAttribute))"),
    Refusals("a starting key in another partition, or of a table without sort keys: Local's own words", "The provided starting key does not match the range key predicate|The query can return at most one row", "starting key|exclusive start key|The query can return at most one row"),
    Refusals("of several operands that are wrong each tells another first", OPERAND, OPERAND),
    Refusals("of several operands that are wrong each tells another first", "Incorrect operand type|Incorrect number of operands", "Incorrect operand type|Incorrect number of operands"),
    Refusals("of several operands that are wrong each tells another first", "Two document paths", "is not defined"),
    Refusals("of several keys that are wrong each tells another first", "null or empty values", "contains duplicates"),
    Refusals("of several keys that are wrong each tells another first", KEY, KEY),
    Refusals("of several conditions on the key that are wrong each tells another first", "KeyConditionExpression", "KeyConditionExpression"),
    Refusals("of several statements that are wrong each tells another first", r"Validation failed in TransactStatements", r"Validation failed in TransactStatements"),
    # Only one of them refuses.
    TheyAnswer("Local lets the reserved words size and data through", "reserved keyword"),
    TheyAnswer("Local evaluates conditions below a key in transactions", "must be scalars", "TransactWriteItems"),
    TheyAnswer("Local's PartiQL answers a filter on attributes that the index does not project", "does not project", "ExecuteStatement"),
    TheyAnswer("Local's PartiQL updates and deletes what is not there", "ConditionalCheckFailed", "Execute"),
    TheyAnswer("Local does not look at the type that an update gives an index's key", "Type mismatch for Index Key", "Update"),
    TheyAnswer("Local starts behind the only item of a partition", "The provided exclusive start key is invalid", "Query"),
    TheyRefuse("Local refuses columns of a SELECT that overlap [?]", "Two document paths (overlap|conflict)", "SELECT"),
    TheyRefuse("Local does not see the key of an item that an update creates [?]", "refers to an attribute that does not exist", "UpdateExpression"),
    TheyRefuse("Local refuses starting keys at the end of a range of binaries", "starting key does not match the range key predicate", "Query"),
    TheyRefuse("Local takes one side of an OR for the key", "Condition parameter type does not match schema type", " OR "),
    TheyRefuse("Local refuses to remove a path from an item that is not there", "The document path provided in the update expression is invalid", "REMOVE"),
    TheyRefuse("Local refuses to read one item twice in a batch of statements", "Provided list of item keys contains duplicates", "BatchExecuteStatement"),
    TheyRefuse("Local refuses a batch of statements for one that is wrong", "", "BatchExecuteStatement"),
    # Both answer.
    Results("Local creates an item where there is nothing to take away from", created_item_shown),
    Results("Local ends a page without a key at the last row that the key condition allows", last_row_of_range),
    Results("Local's scan of a global index filters by attributes that the index does not have", scan_of_global_index),
    Results("Local's own words in a batch of statements", statement_errors),
    Results("Local refuses columns of a SELECT that overlap [?]", overlapping_columns),
    Results("Local's PartiQL updates and deletes what is not there", update_of_missing_item),
]

# The checks of a request. Which of several mistakes is told first differs; on DynamoDB the order is known of few of them.
CHECKS = [
    r"Invalid FilterExpression",
    r"Invalid ConditionExpression",
    r"Invalid ProjectionExpression",
    r"Invalid UpdateExpression",
    r"Invalid KeyConditionExpression",
    r"ExpressionAttribute(Names|Values)",
    KEY,
    r"Key attributes must be scalars",
    r"can only contain non-primary key attributes",
    r"does not project",
    r"starting key|exclusive start key|Exclusive Start Key|at most one row|Type mismatch for attribute to update",
    r"ReturnValues can only be|Return values set",
    r"Cannot update attribute",
    r"The conditional request failed",
    OPERAND,
    r"Input collection|may not be empty|should not be empty|Supplied AttributeValue|numeric value|into a number",
    r"Invalid attribute value type|conditions on the keys|required keys",
    r"Select type|Cannot specify the|Must specify the|ALL_PROJECTED_ATTRIBUTES can be used",
    r"Consistent reads are not supported",
    r"does not have the specified index",
    r"attempted to update the secondary index key",
    r"Query (key condition|filter|condition)|KeyConditionExpression|Query condition missed|Conditions can be of length",
    r"Invalid attribute type name",
    r"ComparisonOperator|action (with value )?is not supported",
    r"BETWEEN (operator|condition)",
    r"Incorrect operand type|Incorrect number of operands",
    r"Two document paths",
    r"Where clause|Unsupported|Statement|statement",
    r"Provided list of item keys contains duplicates|multiple operations on one item",
    r"Item size|key attribute's data type|Duplicate primary key",
]


def check_of(refusal):
    return next((number for number, pattern in enumerate(CHECKS) if found(pattern, refusal)), None)


def another_check(ours, theirs):
    if 200 in (ours[0], theirs[0]):
        return False
    one, two = check_of(ours), check_of(theirs)
    return None not in (one, two) and one != two


def reason_for(operation, request, ours, theirs):
    """Why the two differ, if that is known. Each is a status and an answer."""
    for peculiarity in PECULIARITIES:
        if peculiarity.matches(operation, request, ours, theirs):
            return peculiarity.reason
    if another_check(ours, theirs):
        return "of several mistakes each tells another first"
    return None
