package partita.kcl;

import java.util.Map;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** What a write did to an item, or what a record says of it. An image that there is not is empty. */
public record Change(String event, Map<String, AttributeValue> before, Map<String, AttributeValue> after) {

    static Change of(Map<String, AttributeValue> before, Map<String, AttributeValue> after) {
        String event = before.isEmpty() ? "INSERT" : after.isEmpty() ? "REMOVE" : "MODIFY";
        return new Change(event, before, after);
    }
}
