"""Where DynamoDB Local is known to differ from DynamoDB, each with the reason.

Partita's side of a difference is what DynamoDB returns, as far as that is known: from its documentation, from other projects' tests
that were verified against it (ScyllaDB's Alternator, dynalite, the public conformance suite), or from user reports.
`[?]` marks behaviour that is not known to have been tried on DynamoDB.
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
class DifferentErrors:
    """Both reject the request, with messages like these."""

    reason: str
    theirs: str
    ours: str = ""

    def matches(self, operation, request, ours, theirs):
        if 200 in (ours[0], theirs[0]):
            return False
        return found(self.theirs, theirs) and found(self.ours, ours)


@dataclass
class DifferentCancellations:
    """Both reject a transaction, with different reasons."""

    reason: str
    differs: object

    def matches(self, operation, request, ours, theirs):
        if 200 in (ours[0], theirs[0]) or ours[1]["type"] != "TransactionCanceledException":
            return False
        return self.differs(ours[1], theirs[1])


@dataclass
class OnlyLocalAccepts:
    """Only Local accepts the request; this is Partita's error."""

    reason: str
    ours: str
    request: str = ""

    def matches(self, operation, request, ours, theirs):
        return ours[0] != 200 and theirs[0] == 200 and found(self.ours, ours) and re.search(self.request, f"{operation} {request}")


@dataclass
class OnlyLocalRejects:
    """Only Local rejects the request, with this error."""

    reason: str
    theirs: str
    request: str = ""

    def matches(self, operation, request, ours, theirs):
        return ours[0] == 200 and theirs[0] != 200 and found(self.theirs, theirs) and re.search(self.request, f"{operation} {request}")


@dataclass
class DifferentResults:
    """Both succeed, with different results."""

    reason: str
    differs: object

    def matches(self, operation, request, ours, theirs):
        return (ours[0], theirs[0]) == (200, 200) and self.differs(operation, request, ours[1], theirs[1])


def found(pattern, error):
    """Whether an error's type, message or reasons match."""
    body = error[1]
    reasons = " ".join(f"{reason.get('Code')}: {reason.get('Message')}" for reason in body.get("reasons", []))
    return re.search(pattern, f"{body['type']}: {body['message']} {reasons}") is not None


def same_reasons(ours, theirs):
    """The same codes in the same positions; Local may have none."""
    if theirs["type"] != "TransactionCanceledException":
        return False
    return len(theirs.get("reasons", [])) < len(ours["reasons"]) or codes(ours) == codes(theirs)


def codes(error):
    """Local reports a duplicate of an INSERT as ValidationError."""
    duplicate = lambda reason: "Duplicate primary key" in reason.get("Message", "")
    return ["DuplicateItem" if duplicate(reason) else reason["Code"] for reason in error["reasons"]]


def conditions_inside_keys(ours, theirs):
    if theirs["type"] != "TransactionCanceledException":
        return False
    pairs = zip(ours["reasons"], theirs["reasons"])
    return all(one["Code"] == two["Code"] or "must be scalars" in one.get("Message", "") for one, two in pairs)


def rejected_immediately(ours, theirs):
    """Local reports one of the reasons, perhaps in its own words, or a duplicate item."""
    reasons = [reason.get("Message", "") for reason in ours["reasons"]]
    local_words = r"Invalid attribute value type|conditions on the keys|multiple operations on one item|must be scalars|empty (string|binary) value|Type mismatch|Key attribute's data type|Key value must be"
    return theirs["message"] in reasons or re.search(local_words + "|" + OPERAND, theirs["message"]) is not None


def only_removes(request):
    """Whether an update does not create an item on DynamoDB."""
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


def leaves_different_state(operation, request):
    """Whether Local may have other items afterwards, although the responses are equal: it creates an item where there is
    nothing to remove from."""
    return any(only_removes(update) for update in updates_of(operation, request))


def created_item_shown(operation, request, ours, theirs):
    return leaves_different_state(operation, request) and not ours.get("Attributes")


def last_row_of_range(operation, request, ours, theirs):
    if operation != "Query" or "Limit" not in request:
        return False
    return {**ours, "LastEvaluatedKey": None} == {**theirs, "LastEvaluatedKey": None} and "LastEvaluatedKey" in ours


def scan_of_global_index(operation, request, ours, theirs):
    return operation == "Scan" and "FilterExpression" in request and request.get("IndexName", "").startswith("gsi")


def statement_errors(operation, request, ours, theirs):
    """Batches of statements that fail in the same positions, with other messages."""
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
    """PartiQL's UPDATE and DELETE of a missing item."""
    if operation != "BatchExecuteStatement":
        return False
    pairs = zip(ours["Responses"], theirs["Responses"])
    return all(one == two or "ConditionalCheckFailed" in str(one) or "ConditionalCheckFailed" in str(two) for one, two in pairs)


KNOWN_DIFFERENCES = [
    # Local's own wording of the same error.
    DifferentErrors("Local's own wording: a key of the wrong shape or type", r"Invalid attribute value type|The number of conditions on the keys is invalid|One of the required keys was not given a value|Type mismatch for (key|Index Key|attribute to update)|Key attribute's data type should match|Exclusive Start Key must have same size|Get Condition for key not in key list|Cannot have null key|Condition parameter type does not match|Key value must be of type S, N, or B|Key attribute should be present|may not contain null or empty values|^ValidationException: The provided starting key is invalid $", KEY),
    DifferentErrors("Local's own wording: ReturnValues", "Return values set to invalid value", "ReturnValues can only be"),
    DifferentErrors("Local's own wording: numbers", "A value provided cannot be converted into a number", "cannot be converted to a numeric value"),
    DifferentErrors("Local's own wording: a duplicate in a set has no full stop", r"Input collection .*contains duplicates", r"Input collection .*contains duplicates"),
    DifferentErrors("Local's own wording: operands of ADD and DELETE name an internal set of types", r"typeSet: ALLOWED_FOR", "Incorrect operand type"),
    DifferentErrors("Local's own wording: legacy ADD and DELETE spell types out", r"action (with value )?is not supported for the type", r"action (with value )?is not supported for the type"),
    DifferentErrors("Local's own wording: the name of the exception", r"DuplicateItem: ", "DuplicateItemException: "),
    DifferentErrors("Local prints numbers as they were sent", r"BETWEEN operator requires|BETWEEN condition was provided", r"BETWEEN operator requires|BETWEEN condition was provided"),
    DifferentErrors("Local accepts the reserved words size and data", "", "reserved keyword"),
    DifferentErrors("Local lists paths and attributes in another order", r"Two document paths (overlap|conflict)|does not project", r"Two document paths (overlap|conflict)|does not project"),
    DifferentErrors("Local lists types and placeholders in another order", r"valid types: |unused in expressions: keys", r"valid types: |unused in expressions: keys"),
    DifferentErrors("of several invalid keys or paths, each reports another first", r"must be scalars|secondary index key|empty (string|binary) value", r"must be scalars|Type mismatch for Index Key|secondary index key|empty (string|binary) value|starting key"),
    DifferentErrors("Local's own wording: malformed statements", "Statement wasn't well formed", "Statement wasn't well formed|Unexpected|Unsupported"),
    DifferentErrors("Local names a variable where DynamoDB names its type", "Unsupported data type: ", "Unsupported data type: "),
    DifferentErrors("Local names another of the key attributes in a filter, or none in a key condition", "non-primary key attributes|missed key schema element|Conditions can be of length", "non-primary key attributes|missed key schema element|key condition not supported"),
    DifferentCancellations("Local's own wording: transactions end reasons with a full stop, or leave some out", same_reasons),
    DifferentCancellations("Local evaluates conditions inside a key in transactions", conditions_inside_keys),
    DifferentCancellations("Local rejects a transaction immediately where DynamoDB cancels it", rejected_immediately),
    DifferentErrors("Local cancels a transaction where DynamoDB rejects it immediately", r"^TransactionCanceledException", r"^ValidationException: (Transaction request cannot include multiple operations|Validation failed in|Invalid \w+Expression|.*(empty (string|binary) value|Input collection|may not be empty|Supplied AttributeValue|numeric value|ExpressionAttribute))"),
    DifferentErrors("a starting key in another partition, or of a table without sort keys: Local's own wording", "The provided starting key does not match the range key predicate|The query can return at most one row", "starting key|exclusive start key|The query can return at most one row"),
    DifferentErrors("of several invalid operands, each reports another first", OPERAND, OPERAND),
    DifferentErrors("of several invalid operands, each reports another first", "Incorrect operand type|Incorrect number of operands", "Incorrect operand type|Incorrect number of operands"),
    DifferentErrors("of several invalid operands, each reports another first", "Two document paths", "is not defined"),
    DifferentErrors("of several invalid keys, each reports another first", "null or empty values", "contains duplicates"),
    DifferentErrors("of several invalid keys, each reports another first", KEY, KEY),
    DifferentErrors("of several invalid key conditions, each reports another first", "KeyConditionExpression", "KeyConditionExpression"),
    DifferentErrors("of several invalid statements, each reports another first", r"Validation failed in TransactStatements", r"Validation failed in TransactStatements"),
    # Only one of them rejects the request.
    OnlyLocalAccepts("Local accepts the reserved words size and data", "reserved keyword"),
    OnlyLocalAccepts("Local evaluates conditions inside a key in transactions", "must be scalars", "TransactWriteItems"),
    OnlyLocalAccepts("Local's PartiQL accepts a filter on attributes that the index does not project", "does not project", "ExecuteStatement"),
    OnlyLocalAccepts("Local's PartiQL updates and deletes missing items", "ConditionalCheckFailed", "Execute"),
    OnlyLocalAccepts("Local does not check the type that an update gives an index key", "Type mismatch for Index Key", "Update"),
    OnlyLocalAccepts("Local starts after the only item of a partition", "The provided exclusive start key is invalid", "Query"),
    OnlyLocalRejects("Local rejects overlapping columns of a SELECT [?]", "Two document paths (overlap|conflict)", "SELECT"),
    OnlyLocalRejects("Local does not see the key of an item that an update creates [?]", "refers to an attribute that does not exist", "UpdateExpression"),
    OnlyLocalRejects("Local rejects starting keys at the end of a range of binaries", "starting key does not match the range key predicate", "Query"),
    OnlyLocalRejects("Local mistakes one side of an OR for the key", "Condition parameter type does not match schema type", " OR "),
    OnlyLocalRejects("Local rejects the removal of a path from a missing item", "The document path provided in the update expression is invalid", "REMOVE"),
    OnlyLocalRejects("Local rejects reading one item twice in a batch of statements", "Provided list of item keys contains duplicates", "BatchExecuteStatement"),
    OnlyLocalRejects("Local rejects a whole batch of statements for an invalid one", "", "BatchExecuteStatement"),
    # Both succeed.
    DifferentResults("Local creates an item where there is nothing to remove from", created_item_shown),
    DifferentResults("Local ends a page without a key at the last row that the key condition allows", last_row_of_range),
    DifferentResults("Local's scan of a global index filters by attributes that the index does not have", scan_of_global_index),
    DifferentResults("Local's own wording in a batch of statements", statement_errors),
    DifferentResults("Local rejects overlapping columns of a SELECT [?]", overlapping_columns),
    DifferentResults("Local's PartiQL updates and deletes missing items", update_of_missing_item),
]

# The checks of a request. Which of several errors is reported first differs; DynamoDB's order is known for few of them.
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


def check_of(error):
    return next((number for number, pattern in enumerate(CHECKS) if found(pattern, error)), None)


def different_checks(ours, theirs):
    if 200 in (ours[0], theirs[0]):
        return False
    one, two = check_of(ours), check_of(theirs)
    return None not in (one, two) and one != two


def reason_for(operation, request, ours, theirs):
    """Why the two differ, if that is known. Each is a status and a response."""
    for difference in KNOWN_DIFFERENCES:
        if difference.matches(operation, request, ours, theirs):
            return difference.reason
    if different_checks(ours, theirs):
        return "of several errors, each reports another first"
    return None
