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


def scan_of_global_index(operation, request, ours, theirs):
    return operation == "Scan" and "FilterExpression" in request and request.get("IndexName", "").startswith("gsi")


def statement_errors(operation, request, ours, theirs):
    """Batches of statements that fail in the same places, with other words."""
    if operation != "BatchExecuteStatement" or len(ours["Responses"]) != len(theirs["Responses"]):
        return False
    pairs = zip(ours["Responses"], theirs["Responses"])
    return all(one == two or "Error" in one and "Error" in two for one, two in pairs)


def update_of_missing_item(operation, request, ours, theirs):
    """PartiQL's UPDATE and DELETE of an item that is not there."""
    if operation != "BatchExecuteStatement":
        return False
    pairs = zip(ours["Responses"], theirs["Responses"])
    return all(one == two or "ConditionalCheckFailed" in str(one) or "ConditionalCheckFailed" in str(two) for one, two in pairs)


PECULIARITIES = [
    # Local's own words for the same mistake.
    Refusals("Local's own words: a key of the wrong shape or type", r"Invalid attribute value type|The number of conditions on the keys is invalid|One of the required keys was not given a value|Type mismatch for (key|Index Key|attribute to update)|Key attribute's data type should match|Exclusive Start Key must have same size|Get Condition for key not in key list|Cannot have null key|Condition parameter type does not match|Key value must be of type S, N, or B|may not contain null or empty values", KEY),
    Refusals("Local's own words: ReturnValues", "Return values set to invalid value", "ReturnValues can only be"),
    Refusals("Local's own words: numbers", "A value provided cannot be converted into a number", "cannot be converted to a numeric value"),
    Refusals("Local's own words: a duplicate in a set has no full stop", r"Input collection .*contains duplicates", r"Input collection .*contains duplicates"),
    Refusals("Local's own words: operands of ADD and DELETE name an internal set of types", r"typeSet: ALLOWED_FOR", "Incorrect operand type"),
    Refusals("Local's own words: legacy ADD and DELETE spell types out", r"action (with value )?is not supported for the type", r"action (with value )?is not supported for the type"),
    Refusals("Local's own words: the name of the exception", r"DuplicateItem: ", "DuplicateItemException: "),
    Refusals("Local prints numbers as they were sent", r"BETWEEN operator requires|BETWEEN condition was provided", r"BETWEEN operator requires|BETWEEN condition was provided"),
    Refusals("Local takes names of paths and attributes from a set in another order", r"Two document paths (overlap|conflict)|does not project", r"Two document paths (overlap|conflict)|does not project"),
    Refusals("Local lists types and placeholders in another order", r"valid types: |unused in expressions: keys", r"valid types: |unused in expressions: keys"),
    Refusals("Local's own words: statements that are not well formed", "Statement wasn't well formed", "Statement wasn't well formed|Unexpected|Unsupported"),
    Refusals("Local names a variable where DynamoDB says what it is", "Unsupported data type: ", "Unsupported data type: "),
    Refusals("Local names another of the key attributes in a filter, or none in a key condition", "non-primary key attributes|missed key schema element|Conditions can be of length", "non-primary key attributes|missed key schema element|key condition not supported"),
    Refusals("Local's own words: transactions end reasons with a full stop, or have none", r"^TransactionCanceledException", r"^TransactionCanceledException"),
    Refusals("Local refuses a transaction at once for what DynamoDB cancels it for", r"^ValidationException", r"^TransactionCanceledException"),
    Refusals("Local cancels a transaction for what DynamoDB refuses at once", r"^TransactionCanceledException", r"^ValidationException"),
    Refusals("a starting key in another partition, or of a table without sort keys: Local's own words", "The provided starting key does not match the range key predicate|The query can return at most one row", "starting key|exclusive start key|The query can return at most one row"),
    Refusals("of several operands that are wrong each tells another first", OPERAND, OPERAND),
    Refusals("Local does not show the item that failed the condition where the request names no attribute of it [?]", "^ConditionalCheckFailedException", "^ConditionalCheckFailedException"),
    # Only one of them refuses.
    TheyAnswer("Local lets the reserved words size and data through in projections", "reserved keyword", "ProjectionExpression"),
    TheyAnswer("Local's PartiQL answers a filter on attributes that the index does not project", "does not project", "ExecuteStatement"),
    TheyAnswer("Local's PartiQL updates and deletes what is not there", "ConditionalCheckFailed", "Execute"),
    TheyAnswer("Local lets DELETE take a set from an attribute that is an index's key [?]", "Type mismatch for Index Key", "DELETE"),
    TheyAnswer("Local starts behind the only item of a partition", "The provided exclusive start key is invalid", "Query"),
    TheyRefuse("Local refuses columns of a SELECT that overlap [?]", "Two document paths overlap", "SELECT"),
    TheyRefuse("Local refuses to remove a path from an item that is not there", "The document path provided in the update expression is invalid", "REMOVE"),
    TheyRefuse("Local refuses to read one item twice in a batch of statements", "Provided list of item keys contains duplicates", "BatchExecuteStatement"),
    TheyRefuse("Local refuses a batch of statements for one that is wrong", "", "BatchExecuteStatement"),
    # Both answer.
    Results("Local creates an item where there is nothing to take away from", created_item_shown),
    Results("Local's scan of a global index filters by attributes that the index does not have", scan_of_global_index),
    Results("Local's own words in a batch of statements", statement_errors),
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
    r"starting key|exclusive start key",
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
    r"Query (key condition|filter|condition)|KeyConditionExpression|Query condition missed",
    r"ComparisonOperator|action (with value )?is not supported",
    r"BETWEEN (operator|condition)",
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
