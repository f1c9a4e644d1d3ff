//! All requests and all responses, as passed between `wire` and `engine`.

use crate::*;

macro_rules! requests_and_responses {
    ($($folder:ident $name:ident $module:ident $output:ident $access:ident $(by [$($action:ident)+])? $remark:literal;)*) => {
        /// A decoded, valid request. The variant's name is the operation's.
        #[derive(Debug)]
        #[allow(missing_docs, reason = "each is described where its content is")]
        pub enum Request {
            $($name($folder::$module::$name)),*
        }

        /// The response to a request that succeeded.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs, reason = "each is described where its content is")]
        pub enum Response {
            $($name($folder::$module::$output)),*
        }
    };
}

operations! { [requests_and_responses] }
