package partita.kcl;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Every change that was written and every one that came back, in the order in which that happened. */
public final class Journal {
    /** A record's first delivery. */
    record Seen(String worker, String shard, BigInteger sequence, Map<String, AttributeValue> key, Change change) {}

    private final Map<Map<String, AttributeValue>, List<Change>> written = new HashMap<>();
    private final Map<BigInteger, Seen> seen = new LinkedHashMap<>();
    private final List<String> faults = new ArrayList<>();
    private final Map<String, Integer> refusals = new TreeMap<>();
    /** The moments at which shards were begun first, and ended first. */
    private final Map<String, Integer> begun = new HashMap<>();
    private final Map<String, Integer> ended = new HashMap<>();
    private int writtenCount;
    private int repeats;
    private int moment;

    synchronized void wrote(Map<String, AttributeValue> key, Change change) {
        written.computeIfAbsent(key, any -> new ArrayList<>()).add(change);
        writtenCount++;
    }

    /** A processor was initialized. */
    public synchronized void begin(String worker, String shard) {
        begun.putIfAbsent(shard, moment++);
    }

    /** A processor was told of its shard's end. */
    public synchronized void end(String worker, String shard) {
        ended.putIfAbsent(shard, moment++);
    }

    /** A processor got a record. */
    public synchronized void see(
            String worker, String shard, String sequence, Map<String, AttributeValue> key, Change change) {
        Seen now = new Seen(worker, shard, new BigInteger(sequence), key, change);
        Seen before = seen.putIfAbsent(now.sequence(), now);
        if (ended.containsKey(shard) && before == null) {
            fault("a record of " + shard + " after its end");
        }
        if (before != null) {
            repeats++;
            if (!before.shard().equals(shard) || !before.key().equals(key) || !before.change().equals(change)) {
                fault(before + " came again as " + now);
            }
        }
    }

    public synchronized void fault(String what) {
        faults.add(what);
    }

    /** The server answered a worker's request with an error. */
    public synchronized void refuse(String operation, String code) {
        refusals.merge(operation + " " + code, 1, Integer::sum);
    }

    synchronized int writtenCount() {
        return writtenCount;
    }

    synchronized int seenCount() {
        return seen.size();
    }

    synchronized int repeats() {
        return repeats;
    }

    synchronized List<Seen> seen() {
        return List.copyOf(seen.values());
    }

    synchronized List<String> faults() {
        return List.copyOf(faults);
    }

    synchronized Map<String, Integer> refusals() {
        return new TreeMap<>(refusals);
    }

    synchronized Map<String, Integer> begun() {
        return Map.copyOf(begun);
    }

    synchronized Map<String, Integer> ended() {
        return Map.copyOf(ended);
    }

    /** What differs between the changes written and those seen, item by item and in order. */
    synchronized List<String> differences() {
        Map<Map<String, AttributeValue>, List<Change>> came = new HashMap<>();
        seen.values().forEach(one -> came.computeIfAbsent(one.key(), any -> new ArrayList<>()).add(one.change()));
        List<String> differences = new ArrayList<>();
        written.forEach((key, changes) -> {
            List<Change> others = came.getOrDefault(key, List.of());
            if (!changes.equals(others)) {
                differences.add(key + ": wrote " + changes + ", saw " + others);
            }
        });
        came.keySet().stream().filter(key -> !written.containsKey(key))
                .forEach(key -> differences.add("never wrote " + key));
        return differences;
    }
}
