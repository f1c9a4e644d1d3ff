//! ListTagsOfResource: decodes the ARN of a table; encodes a page of its tags.

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
        json.objects("Tags", &output.tags, |tag, json| {
            json.member("Key", &tag.key).member("Value", &tag.value);
        });
        json.member("NextToken", &output.next_token);
    });
}

#[cfg(test)]
mod tests {
    use crate::testing::*;
    use partita_api::Response;
    use partita_api::table::Tag;
    use partita_api::tag::list_tags_of_resource::{ListTagsOfResource, ListTagsOfResourceOutput};

    operation_tests!(ListTagsOfResource);

    #[test]
    fn an_arn_and_a_token_are_read() {
        let request = decoded(
            r#"{"ResourceArn": "arn:aws:dynamodb:us-east-1:000000000000:table/abc", "NextToken": "t"}"#,
        );
        assert_eq!(request.arn, "arn:aws:dynamodb:us-east-1:000000000000:table/abc");
        assert_eq!(request.next_token.as_deref(), Some("t"));
    }

    #[test]
    fn a_bare_name_is_refused() {
        assert_eq!(
            refused(r#"{"ResourceArn": "abc"}"#),
            "One or more parameter values were invalid: ARNs must start with 'arn:': abc"
        );
    }

    #[test]
    fn a_page_has_tags_and_a_token() {
        let page = |tags, next_token: Option<&str>| {
            let next_token = next_token.map(str::to_owned);
            encoded(Response::ListTagsOfResource(ListTagsOfResourceOutput { tags, next_token }))
        };
        assert_eq!(page(vec![], None), r#"{"Tags":[]}"#);
        let tags = vec![Tag { key: "env".into(), value: "test".into() }];
        assert_eq!(page(tags, Some("t")), r#"{"Tags":[{"Key":"env","Value":"test"}],"NextToken":"t"}"#);
    }
}
