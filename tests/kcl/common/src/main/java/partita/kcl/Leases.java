package partita.kcl;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** The workers' table of leases, one for each shard, as both versions of the library write it. */
record Leases(List<Map<String, AttributeValue>> rows) {
    static final String END = "SHARD_END";

    static Leases read(DynamoDbClient client) {
        return new Leases(client.scan(scan -> scan.tableName(Test.APPLICATION).consistentRead(true)).items());
    }

    /** Who holds the shards that have not ended. */
    Set<String> owners() {
        Set<String> owners = new HashSet<>();
        for (Map<String, AttributeValue> row : rows) {
            if (!END.equals(row.get("checkpoint").s()) && row.containsKey("leaseOwner")) {
                owners.add(row.get("leaseOwner").s());
            }
        }
        return owners;
    }

    /** A shard's checkpoint: a sequence number or the name of a place. */
    Map<String, String> checkpoints() {
        Map<String, String> checkpoints = new HashMap<>();
        rows.forEach(row -> checkpoints.put(row.get("leaseKey").s(), row.get("checkpoint").s()));
        return checkpoints;
    }

    Map<String, String> parents() {
        Map<String, String> parents = new HashMap<>();
        for (Map<String, AttributeValue> row : rows) {
            if (row.containsKey("parentShardId")) {
                parents.put(row.get("leaseKey").s(), row.get("parentShardId").ss().get(0));
            }
        }
        return parents;
    }
}
