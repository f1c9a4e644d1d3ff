//! The registry: one line per operation that is answered. Its name is its address in every stage.

/// Whether an operation changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

macro_rules! operations {
    ($($name:ident $access:ident),* $(,)?) => {
        /// An operation of the DynamoDB API, named as on the wire and in IAM (`dynamodb:Name`).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Operation {
            $($name),*
        }

        impl Operation {
            pub const ALL: &'static [Operation] = &[$(Operation::$name),*];

            pub fn name(self) -> &'static str {
                match self {
                    $(Operation::$name => stringify!($name)),*
                }
            }

            pub fn from_name(name: &str) -> Option<Operation> {
                match name {
                    $(stringify!($name) => Some(Operation::$name),)*
                    _ => None,
                }
            }

            pub fn access(self) -> Access {
                match self {
                    $(Operation::$name => Access::$access),*
                }
            }
        }
    };
}

operations! {
    BatchGetItem Read,
    BatchWriteItem Write,
    CreateTable Write,
    DeleteItem Write,
    DeleteTable Write,
    DescribeEndpoints Read,
    DescribeLimits Read,
    DescribeTable Read,
    DescribeTimeToLive Read,
    GetItem Read,
    ListTables Read,
    ListTagsOfResource Read,
    PutItem Write,
    Query Read,
    Scan Read,
    TagResource Write,
    TransactGetItems Read,
    TransactWriteItems Write,
    UntagResource Write,
    UpdateItem Write,
    UpdateTable Write,
    UpdateTimeToLive Write,
}
