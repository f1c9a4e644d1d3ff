package partita.kcl;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;
import software.amazon.awssdk.services.dynamodb.model.WriteRequest;

/**
 * Changes items that no other writer changes, so that it knows each change's images. A request that failed is sent
 * again; if it had been done after all, then it changes nothing the second time, and makes no record.
 */
final class Writer {
    private static final int ITEMS = 40;
    private static final int ATTEMPTS = 100;
    private static final String EXISTS = "attribute_exists(id)";

    private final DynamoDbClient client;
    private final String table;
    private final int number;
    private final Journal journal;
    private final Random random;
    private final Map<Map<String, AttributeValue>, Map<String, AttributeValue>> items = new HashMap<>();
    private int version;

    Writer(DynamoDbClient client, String table, int number, Journal journal) {
        this.client = client;
        this.table = table;
        this.number = number;
        this.journal = journal;
        this.random = new Random(number);
    }

    /** Makes one request that changes something, now and then after one that does not. */
    void step() {
        switch (random.nextInt(8)) {
            case 0, 1 -> put(keys(1).get(0));
            case 2, 3 -> update(keys(1).get(0));
            case 4 -> delete(keys(1).get(0));
            case 5 -> batch(keys(1 + random.nextInt(25)));
            case 6 -> transaction(keys(1 + random.nextInt(12)));
            default -> changeNothing(keys(3));
        }
    }

    private void put(Map<String, AttributeValue> key) {
        Map<String, AttributeValue> item = item(key);
        send(() -> client.putItem(put -> put.tableName(table).item(item)));
        became(key, item);
    }

    private void update(Map<String, AttributeValue> key) {
        AttributeValue next = number(++version);
        send(() -> client.updateItem(update -> update.tableName(table).key(key)
                .updateExpression("SET version = :next REMOVE flag").expressionAttributeValues(Map.of(":next", next))));
        became(key, updated(key, next));
    }

    private void delete(Map<String, AttributeValue> key) {
        send(() -> client.deleteItem(delete -> delete.tableName(table).key(key)));
        became(key, Map.of());
    }

    private void batch(List<Map<String, AttributeValue>> keys) {
        Map<Map<String, AttributeValue>, Map<String, AttributeValue>> after = new HashMap<>();
        List<WriteRequest> requests = new ArrayList<>();
        for (Map<String, AttributeValue> key : keys) {
            if (random.nextInt(3) == 0) {
                after.put(key, Map.of());
                requests.add(WriteRequest.builder().deleteRequest(delete -> delete.key(key)).build());
            } else {
                after.put(key, item(key));
                requests.add(WriteRequest.builder().putRequest(put -> put.item(after.get(key))).build());
            }
        }
        send(() -> {
            var answer = client.batchWriteItem(batch -> batch.requestItems(Map.of(table, requests)));
            if (!answer.unprocessedItems().isEmpty()) {
                throw SdkException.builder().message("unprocessed items").build();
            }
            return answer;
        });
        after.forEach(this::became);
    }

    private void transaction(List<Map<String, AttributeValue>> keys) {
        Map<Map<String, AttributeValue>, Map<String, AttributeValue>> after = new HashMap<>();
        List<TransactWriteItem> actions = new ArrayList<>();
        for (Map<String, AttributeValue> key : keys) {
            TransactWriteItem.Builder action = TransactWriteItem.builder();
            switch (random.nextInt(3)) {
                case 0 -> {
                    after.put(key, item(key));
                    action.put(put -> put.tableName(table).item(after.get(key)));
                }
                case 1 -> {
                    AttributeValue next = number(++version);
                    after.put(key, updated(key, next));
                    action.update(update -> update.tableName(table).key(key)
                            .updateExpression("SET version = :next REMOVE flag")
                            .expressionAttributeValues(Map.of(":next", next)));
                }
                default -> {
                    after.put(key, Map.of());
                    action.delete(delete -> delete.tableName(table).key(key));
                }
            }
            actions.add(action.build());
        }
        send(() -> client.transactWriteItems(write -> write.transactItems(actions)));
        after.forEach(this::became);
    }

    /** The same item again, a condition that does not hold, a transaction that is cancelled. */
    private void changeNothing(List<Map<String, AttributeValue>> keys) {
        Map<String, AttributeValue> first = keys.get(0);
        if (items.containsKey(first)) {
            send(() -> client.putItem(put -> put.tableName(table).item(items.get(first))));
        } else {
            send(() -> client.deleteItem(delete -> delete.tableName(table).key(first)));
        }
        Map<String, AttributeValue> absent = key(ITEMS);
        try {
            send(() -> client.updateItem(update -> update.tableName(table).key(absent)
                    .updateExpression("SET version = :next").conditionExpression(EXISTS)
                    .expressionAttributeValues(Map.of(":next", number(0)))));
            journal.fault("a condition held that must not");
        } catch (ConditionalCheckFailedException expected) {
            // As it should.
        }
        try {
            send(() -> client.transactWriteItems(write -> write.transactItems(
                    TransactWriteItem.builder().put(put -> put.tableName(table).item(item(first))).build(),
                    TransactWriteItem.builder().delete(delete -> delete.tableName(table).key(absent)
                            .conditionExpression(EXISTS)).build())));
            journal.fault("a transaction went through that must not");
        } catch (TransactionCanceledException expected) {
            // As it should.
        }
    }

    private void became(Map<String, AttributeValue> key, Map<String, AttributeValue> after) {
        Map<String, AttributeValue> before = items.getOrDefault(key, Map.of());
        if (after.isEmpty()) {
            items.remove(key);
        } else {
            items.put(key, after);
        }
        if (!before.equals(after)) {
            journal.wrote(key, Change.of(before, after));
        }
    }

    private <T> T send(Supplier<T> request) {
        for (int attempt = 1;; attempt++) {
            try {
                return request.get();
            } catch (ConditionalCheckFailedException | TransactionCanceledException answer) {
                throw answer;
            } catch (SdkException failure) {
                if (attempt == ATTEMPTS) {
                    throw failure;
                }
                Pause.millis(100);
            }
        }
    }

    private List<Map<String, AttributeValue>> keys(int count) {
        List<Map<String, AttributeValue>> keys = new ArrayList<>();
        for (int item = 0; item < ITEMS; item++) {
            keys.add(key(item));
        }
        Collections.shuffle(keys, random);
        return keys.subList(0, count);
    }

    private Map<String, AttributeValue> key(int item) {
        return Map.of("id", AttributeValue.fromS("item-" + number + "-" + item / 4), "part", number(item % 4));
    }

    /** An item that no other is equal to, with a value of every type. */
    private Map<String, AttributeValue> item(Map<String, AttributeValue> key) {
        Map<String, AttributeValue> item = new HashMap<>(key);
        item.put("version", number(++version));
        item.put("flag", AttributeValue.fromBool(random.nextBoolean()));
        item.put("nothing", AttributeValue.fromNul(true));
        item.put("empty", AttributeValue.fromS(""));
        item.put("text", AttributeValue.fromS("é\"\\\n" + "x".repeat(random.nextInt(200))));
        item.put("bytes", AttributeValue.fromB(SdkBytes.fromByteArray(new byte[] {0, (byte) 0xff, (byte) version})));
        item.put("words", AttributeValue.fromSs(List.of("a", "b")));
        item.put("numbers", AttributeValue.fromNs(List.of("-1.5", "12345678901234567890123456789012345678")));
        item.put("list", AttributeValue.fromL(List.of(number(1), AttributeValue.fromS("two"))));
        item.put("map", AttributeValue.fromM(Map.of("deep", AttributeValue.fromM(Map.of("er", number(version))))));
        return item;
    }

    private Map<String, AttributeValue> updated(Map<String, AttributeValue> key, AttributeValue version) {
        Map<String, AttributeValue> item = new HashMap<>(items.getOrDefault(key, key));
        item.put("version", version);
        item.remove("flag");
        return item;
    }

    private static AttributeValue number(int number) {
        return AttributeValue.fromN(Integer.toString(number));
    }
}
