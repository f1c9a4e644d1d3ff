package partita.kcl;

import com.amazonaws.services.dynamodbv2.streamsadapter.model.DynamoDBStreamsProcessRecordsInput;
import com.amazonaws.services.dynamodbv2.streamsadapter.processor.DynamoDBStreamsShardRecordProcessor;
import software.amazon.awssdk.services.dynamodb.model.Record;
import software.amazon.kinesis.exceptions.InvalidStateException;
import software.amazon.kinesis.exceptions.ShutdownException;
import software.amazon.kinesis.lifecycle.events.InitializationInput;
import software.amazon.kinesis.lifecycle.events.LeaseLostInput;
import software.amazon.kinesis.lifecycle.events.ShardEndedInput;
import software.amazon.kinesis.lifecycle.events.ShutdownRequestedInput;
import software.amazon.kinesis.processor.RecordProcessorCheckpointer;

/** Notes what comes, and checkpoints after every page. */
final class Kcl3Processor implements DynamoDBStreamsShardRecordProcessor {
    private final String worker;
    private final Journal journal;
    private String shard;

    Kcl3Processor(String worker, Journal journal) {
        this.worker = worker;
        this.journal = journal;
    }

    @Override
    public void initialize(InitializationInput input) {
        shard = input.shardId();
        journal.begin(worker, shard);
    }

    @Override
    public void processRecords(DynamoDBStreamsProcessRecordsInput input) {
        for (var delivered : input.records()) {
            Record record = delivered.getRecord();
            var change = record.dynamodb();
            journal.see(worker, shard, change.sequenceNumber(), change.keys(),
                    new Change(record.eventNameAsString(), change.oldImage(), change.newImage()));
        }
        if (!input.records().isEmpty()) {
            checkpoint(input.checkpointer());
        }
    }

    @Override
    public void leaseLost(LeaseLostInput input) {
        // Another worker goes on at the checkpoint.
    }

    @Override
    public void shardEnded(ShardEndedInput input) {
        journal.end(worker, shard);
        checkpoint(input.checkpointer());
    }

    @Override
    public void shutdownRequested(ShutdownRequestedInput input) {
        checkpoint(input.checkpointer());
    }

    private void checkpoint(RecordProcessorCheckpointer checkpointer) {
        try {
            checkpointer.checkpoint();
        } catch (ShutdownException lost) {
            // Another worker has the lease by now, and sees the page again.
        } catch (InvalidStateException wrong) {
            journal.fault(wrong.toString());
        }
    }
}
