package partita.kcl;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.retry.RetryMode;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.StreamViewType;

/**
 * Workers come and go, shards end and go on in others, the server is killed; meanwhile writers change items. In the
 * end every change must have come to a processor, those of an item in order.
 */
public final class Test {
    public static final String APPLICATION = "Application";
    private static final String TABLE = "Changes";
    private static final int WRITERS = 4;
    /** The library itself waits for up to half a minute, at its first start and for a new leader. */
    private static final int PATIENCE_SECONDS = 60;
    /** A shard ends after a sixth of this. */
    private static final String RETENTION = "90s";

    /** Answers that are part of how the library works: it tries to create, and takes leases under conditions. */
    private static final Set<String> EXPECTED =
            Set.of("ConditionalCheckFailedException", "ResourceNotFoundException", "ResourceInUseException");

    private final Server server;
    private final Worker.Starter starter;
    private final Journal journal = new Journal();
    private final DynamoDbClient client;
    private final List<Writer> writers = new ArrayList<>();
    private final ExecutorService pool = Executors.newCachedThreadPool();
    private final long start = System.nanoTime();
    private String stream;
    private int failed;

    private Test(Server server, Worker.Starter starter) {
        this.server = server;
        this.starter = starter;
        this.client = DynamoDbClient.builder().endpointOverride(server.endpoint()).region(Region.US_EAST_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("local", "local")))
                .overrideConfiguration(override -> override.retryStrategy(RetryMode.STANDARD)).build();
        for (int number = 0; number < WRITERS; number++) {
            writers.add(new Writer(client, TABLE, number, journal));
        }
    }

    /** Runs it all on a server of its own, prints a line for each check, and ends the program. */
    public static void run(String[] arguments, Worker.Starter starter) throws Exception {
        int failed;
        try (Server server = new Server(arguments[0], RETENTION)) {
            Test test = new Test(server, starter);
            try {
                test.run();
            } catch (Exception exception) {
                exception.printStackTrace();
                test.check("runs to its end: " + exception, false);
            }
            failed = test.failed;
        }
        System.exit(failed == 0 ? 0 : 1);
    }

    private void run() throws Exception {
        createTable();
        Worker first = worker("first");
        write(4).get();
        awaitAll("one worker sees every change");
        check("… each of them once", journal.repeats() == 0);

        Future<?> writing = write(8);
        Worker second = worker("second");
        check("a second worker gets leases", Pause.until(PATIENCE_SECONDS, () ->
                Leases.read(client).owners().equals(Set.of("first", "second"))));
        writing.get();
        write(3).get();
        awaitAll("two workers see every change");
        Set<String> workers = journal.seen().stream().map(Journal.Seen::worker).collect(Collectors.toSet());
        check("… each of them some", workers.equals(Set.of("first", "second")));

        writing = write(4);
        second.abandon();
        check("the first takes the leases of a worker that is gone",
                Pause.until(PATIENCE_SECONDS, () -> Leases.read(client).owners().equals(Set.of("first"))));
        writing.get();
        awaitAll("the worker that is left sees every change");

        first.stop();
        int repeats = journal.repeats();
        int unseen = journal.seenCount();
        write(2).get();
        check("no worker, no records", journal.seenCount() == unseen && journal.writtenCount() > unseen);
        Worker third = worker("third");
        awaitAll("a worker goes on at the checkpoints");
        check("… and sees nothing again", journal.repeats() == repeats);

        writing = write(6);
        for (int kill = 0; kill < 2; kill++) {
            Pause.millis(2_000);
            server.kill();
            Pause.millis(300);
            server.start();
        }
        writing.get();
        awaitAll("nothing is lost when the server is killed twice");
        check("checkpoints are of records that were seen", checkpointsAreSeen());

        client.updateTable(update -> update.tableName(TABLE)
                .streamSpecification(specification -> specification.streamEnabled(false)));
        check("every shard of a disabled stream ends", Pause.until(PATIENCE_SECONDS, () ->
                Leases.read(client).checkpoints().values().stream().allMatch(Leases.END::equals)));
        third.abandon();
        checkJournal();
        report();
    }

    private void createTable() {
        client.createTable(create -> create.tableName(TABLE).billingMode(BillingMode.PAY_PER_REQUEST)
                .attributeDefinitions(attribute("id", ScalarAttributeType.S), attribute("part", ScalarAttributeType.N))
                .keySchema(key("id", KeyType.HASH), key("part", KeyType.RANGE))
                .streamSpecification(specification -> specification.streamEnabled(true)
                        .streamViewType(StreamViewType.NEW_AND_OLD_IMAGES)));
        stream = client.describeTable(describe -> describe.tableName(TABLE)).table().latestStreamArn();
    }

    private static AttributeDefinition attribute(String name, ScalarAttributeType type) {
        return AttributeDefinition.builder().attributeName(name).attributeType(type).build();
    }

    private static KeySchemaElement key(String name, KeyType type) {
        return KeySchemaElement.builder().attributeName(name).keyType(type).build();
    }

    private Worker worker(String name) throws Exception {
        return starter.start(name, server.endpoint(), stream, journal);
    }

    /** Lets all writers write for a while, at their ease. */
    private Future<?> write(int seconds) {
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        List<Future<?>> writing = new ArrayList<>();
        for (Writer writer : writers) {
            writing.add(pool.submit(() -> {
                while (System.nanoTime() < end) {
                    writer.step();
                    Pause.millis(40);
                }
            }));
        }
        return pool.submit(() -> {
            for (Future<?> one : writing) {
                one.get();
            }
            return null;
        });
    }

    private void awaitAll(String what) {
        Pause.until(PATIENCE_SECONDS, () -> journal.seenCount() >= journal.writtenCount());
        List<String> differences = journal.differences();
        differences.stream().limit(3).forEach(System.err::println);
        check(what, differences.isEmpty());
    }

    private boolean checkpointsAreSeen() {
        Set<String> places = new HashSet<>(Set.of(Leases.END, "TRIM_HORIZON"));
        journal.seen().forEach(one -> places.add(one.shard() + " " + one.sequence()));
        return Leases.read(client).checkpoints().entrySet().stream().allMatch(checkpoint -> {
            String place = checkpoint.getValue();
            return places.contains(place) || places.contains(checkpoint.getKey() + " " + new BigInteger(place));
        });
    }

    private void checkJournal() {
        Map<String, BigInteger> lastOfShard = new HashMap<>();
        Map<Object, BigInteger> lastOfItem = new HashMap<>();
        boolean shardsAscend = true;
        boolean itemsAscend = true;
        for (Journal.Seen one : journal.seen()) {
            BigInteger inShard = lastOfShard.put(one.shard(), one.sequence());
            BigInteger inItem = lastOfItem.put(one.key(), one.sequence());
            shardsAscend &= inShard == null || inShard.compareTo(one.sequence()) < 0;
            itemsAscend &= inItem == null || inItem.compareTo(one.sequence()) < 0;
        }
        check("sequence numbers ascend in each shard", shardsAscend);
        check("sequence numbers ascend for each item", itemsAscend);

        Map<String, Integer> begun = journal.begun();
        Map<String, Integer> ended = journal.ended();
        Map<String, String> parents = Leases.read(client).parents();
        check("shards went on in children", !parents.isEmpty());
        check("a child is begun after its parent has ended", parents.entrySet().stream().allMatch(child ->
                ended.getOrDefault(child.getValue(), Integer.MAX_VALUE) < begun.getOrDefault(child.getKey(), -1)));
        check("every shard that was begun has ended", begun.keySet().equals(ended.keySet()));
        journal.faults().stream().limit(3).forEach(System.err::println);
        check("no faults on the way", journal.faults().isEmpty());
        Set<String> refusals = journal.refusals().keySet();
        check("no answer that the library does not expect: " + journal.refusals(), refusals.stream()
                .allMatch(refusal -> EXPECTED.contains(refusal.substring(refusal.indexOf(' ') + 1))));
    }

    private void report() {
        System.out.printf("       %d records of %d shards, %d of them again, in %d seconds%n", journal.seenCount(),
                journal.begun().size(), journal.repeats(), seconds());
    }

    private long seconds() {
        return (System.nanoTime() - start) / 1_000_000_000L;
    }

    private void check(String what, boolean holds) {
        failed += holds ? 0 : 1;
        System.out.printf("%-6s %s%n", holds ? "ok" : "FAILED", what);
        System.err.printf("%d seconds: %s%n", seconds(), what);
    }
}
