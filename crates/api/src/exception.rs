//! Exceptions: the errors of the DynamoDB API, with AWS's names.

use partita_expression::ExpressionError;
use partita_partiql::StatementError;
use partita_value::{Item, NumberError, SetError};

macro_rules! kinds {
    ($($name:ident $namespace:ident $status:literal),* $(,)?) => {
        /// The type of an exception: AWS's name for it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the names are AWS's, and documented there")]
        pub enum ExceptionKind {
            $($name),*
        }

        impl ExceptionKind {
            /// The exception's name.
            pub fn name(self) -> &'static str {
                match self {
                    $(ExceptionKind::$name => stringify!($name)),*
                }
            }

            /// The `__type` member: namespace and name.
            pub fn qualified_name(self) -> &'static str {
                match self {
                    $(ExceptionKind::$name => concat!(kinds!(@$namespace), stringify!($name))),*
                }
            }

            /// The HTTP status of the response.
            pub fn http_status(self) -> u16 {
                match self {
                    $(ExceptionKind::$name => $status),*
                }
            }
        }
    };
    (@coral) => { "com.amazon.coral.service#" };
    (@validate) => { "com.amazon.coral.validate#" };
    (@dynamodb) => { "com.amazonaws.dynamodb.v20120810#" };
}

kinds! {
    AccessDeniedException coral 400,
    BackupInUseException dynamodb 400,
    BackupNotFoundException dynamodb 400,
    ConditionalCheckFailedException dynamodb 400,
    ContinuousBackupsUnavailableException dynamodb 400,
    DuplicateItemException dynamodb 400,
    ExpiredIteratorException dynamodb 400,
    ExportConflictException dynamodb 400,
    ExportNotFoundException dynamodb 400,
    IdempotentParameterMismatchException dynamodb 400,
    ImportConflictException dynamodb 400,
    ImportNotFoundException dynamodb 400,
    IncompleteSignatureException coral 400,
    InternalServerError dynamodb 500,
    InvalidExportTimeException dynamodb 400,
    InvalidRestoreTimeException dynamodb 400,
    InvalidSignatureException coral 400,
    ItemCollectionSizeLimitExceededException dynamodb 400,
    LimitExceededException dynamodb 400,
    MissingAuthenticationTokenException coral 400,
    PointInTimeRecoveryUnavailableException dynamodb 400,
    ProvisionedThroughputExceededException dynamodb 400,
    ResourceInUseException dynamodb 400,
    ResourceNotFoundException dynamodb 400,
    SerializationException coral 400,
    ServiceUnavailable coral 503,
    TableAlreadyExistsException dynamodb 400,
    TableInUseException dynamodb 400,
    TableNotFoundException dynamodb 400,
    TransactionCanceledException dynamodb 400,
    TransactionConflictException dynamodb 400,
    TransactionInProgressException dynamodb 400,
    TrimmedDataAccessException dynamodb 400,
    UnknownOperationException coral 400,
    UnrecognizedClientException coral 400,
    ValidationException validate 400,
}

impl ExceptionKind {
    /// The code of this exception where it is the reason for the failure of one action or statement among several; `None` if it cannot be.
    pub fn reason_code(self) -> Option<&'static str> {
        Some(match self {
            ExceptionKind::ConditionalCheckFailedException => "ConditionalCheckFailed",
            ExceptionKind::DuplicateItemException => "DuplicateItem",
            ExceptionKind::ItemCollectionSizeLimitExceededException => "ItemCollectionSizeLimitExceeded",
            ExceptionKind::ResourceNotFoundException => "ResourceNotFound",
            ExceptionKind::ValidationException => "ValidationError",
            _ => return None,
        })
    }
}

/// The error response of an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Exception {
    /// The type of the exception.
    pub kind: ExceptionKind,
    /// The message for the client.
    pub message: String,
    /// The item that failed a condition, if requested.
    pub item: Option<Item>,
    /// One reason per action of a cancelled transaction, in order.
    pub cancellation_reasons: Option<Vec<CancellationReason>>,
}

/// Why one action of a transaction failed; empty for actions that did not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CancellationReason {
    /// The code of the reason, if the action failed.
    pub code: Option<&'static str>,
    /// The message for the client.
    pub message: Option<String>,
    /// The item that failed a condition, if requested.
    pub item: Option<Item>,
}

impl Exception {
    /// An exception of this type.
    pub fn new(kind: ExceptionKind, message: impl Into<String>) -> Exception {
        Exception { kind, message: message.into(), item: None, cancellation_reasons: None }
    }

    /// The size of all items that it carries.
    pub fn item_bytes(&self) -> usize {
        let reasons = self.cancellation_reasons.iter().flatten();
        let items = self.item.iter().chain(reasons.filter_map(|reason| reason.item.as_ref()));
        items.map(Item::size).sum()
    }

    /// A `ValidationException`.
    pub fn validation(message: impl Into<String>) -> Exception {
        Exception::new(ExceptionKind::ValidationException, message)
    }

    /// A `SerializationException`.
    pub fn serialization(message: impl Into<String>) -> Exception {
        Exception::new(ExceptionKind::SerializationException, message)
    }

    /// An `InternalServerError`.
    pub fn internal(message: impl Into<String>) -> Exception {
        Exception::new(ExceptionKind::InternalServerError, message)
    }

    /// A `ResourceNotFoundException`.
    pub fn resource_not_found(message: impl Into<String>) -> Exception {
        Exception::new(ExceptionKind::ResourceNotFoundException, message)
    }
}

impl From<ExpressionError> for Exception {
    fn from(error: ExpressionError) -> Exception {
        Exception::validation(error.to_string())
    }
}

impl From<StatementError> for Exception {
    fn from(error: StatementError) -> Exception {
        Exception::validation(error.to_string())
    }
}

impl From<NumberError> for Exception {
    fn from(error: NumberError) -> Exception {
        Exception::validation(error.to_string())
    }
}

impl From<SetError> for Exception {
    fn from(error: SetError) -> Exception {
        Exception::validation(error.to_string())
    }
}
