//! Nothing: the tests are everything this package is for.
