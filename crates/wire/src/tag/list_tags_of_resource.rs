//! ListTagsOfResource: a body → the ARN of a table; and a page of its tags.

use crate::json::{Reader, Writer};
use crate::members::{read_request, structure};
use crate::tag::tags::{check_arn, required_arn};
use partita_api::tag::list_tags_of_resource::{ListTagsOfResource, ListTagsOfResourceOutput};
use partita_api::{Exception, Request};
use std::borrow::Cow;

structure! {
    struct ListTagsOfResourceMembers<'a> {
        arn: Cow<'a, str> = "ResourceArn";
        next_token: Cow<'a, str> = "NextToken";
    }
}

pub(crate) fn decode(reader: Reader<'_>) -> Result<Request, Exception> {
    let members: ListTagsOfResourceMembers = read_request(reader)?;
    let arn = required_arn(members.arn.as_deref())?;
    check_arn(arn)?;
    let next_token = members.next_token.map(Cow::into_owned);
    Ok(Request::ListTagsOfResource(ListTagsOfResource { arn: arn.to_owned(), next_token }))
}

pub(crate) fn encode(output: &ListTagsOfResourceOutput, json: &mut Writer) {
    json.object(|json| {
        json.name("Tags").array(|json| {
            for tag in &output.tags {
                json.object(|json| {
                    json.member("Key", &tag.key).member("Value", &tag.value);
                });
            }
        });
        json.member("NextToken", &output.next_token);
    });
}

#[cfg(test)]
mod tests {
    use crate::{Rejection, decode, encode};
    use partita_api::table::Tag;
    use partita_api::tag::list_tags_of_resource::ListTagsOfResourceOutput;
    use partita_api::{Operation, Request, Response};

    #[test]
    fn takes_the_arn_and_where_to_go_on() {
        let body =
            br#"{"ResourceArn": "arn:aws:dynamodb:us-east-1:000000000000:table/abc", "NextToken": "t"}"#;
        match decode(Operation::ListTagsOfResource, body) {
            Ok(Request::ListTagsOfResource(request)) => {
                assert_eq!(request.arn, "arn:aws:dynamodb:us-east-1:000000000000:table/abc");
                assert_eq!(request.next_token.as_deref(), Some("t"));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_bare_name_is_no_arn() {
        match decode(Operation::ListTagsOfResource, br#"{"ResourceArn": "abc"}"#) {
            Err(Rejection::Invalid(exception)) => assert_eq!(
                exception.message,
                "One or more parameter values were invalid: ARNs must start with 'arn:': abc"
            ),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn answers_with_tags_and_where_to_go_on() {
        let page = |tags, next_token: Option<&str>| {
            let next_token = next_token.map(str::to_owned);
            let output = ListTagsOfResourceOutput { tags, next_token };
            String::from_utf8(encode(&Response::ListTagsOfResource(output))).unwrap()
        };
        assert_eq!(page(vec![], None), r#"{"Tags":[]}"#);
        let tags = vec![Tag { key: "env".into(), value: "test".into() }];
        assert_eq!(page(tags, Some("t")), r#"{"Tags":[{"Key":"env","Value":"test"}],"NextToken":"t"}"#);
    }
}
