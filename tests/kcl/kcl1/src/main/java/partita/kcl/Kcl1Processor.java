package partita.kcl;

import com.amazonaws.services.dynamodbv2.model.Record;
import com.amazonaws.services.dynamodbv2.streamsadapter.StreamsRecordProcessor;
import com.amazonaws.services.kinesis.clientlibrary.exceptions.InvalidStateException;
import com.amazonaws.services.kinesis.clientlibrary.exceptions.ShutdownException;
import com.amazonaws.services.kinesis.clientlibrary.interfaces.IRecordProcessorCheckpointer;
import com.amazonaws.services.kinesis.clientlibrary.interfaces.v2.IShutdownNotificationAware;
import com.amazonaws.services.kinesis.clientlibrary.lib.worker.ShutdownReason;
import com.amazonaws.services.kinesis.clientlibrary.types.InitializationInput;
import com.amazonaws.services.kinesis.clientlibrary.types.ShutdownInput;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Notes what comes, and checkpoints after every page. */
final class Kcl1Processor extends StreamsRecordProcessor implements IShutdownNotificationAware {
    private final String worker;
    private final Journal journal;
    private String shard;

    Kcl1Processor(String worker, Journal journal) {
        this.worker = worker;
        this.journal = journal;
    }

    @Override
    public void initialize(InitializationInput input) {
        shard = input.getShardId();
        journal.begin(worker, shard);
    }

    @Override
    public void processStreamsRecords(List<Record> records, IRecordProcessorCheckpointer checkpointer) {
        for (Record record : records) {
            var change = record.getDynamodb();
            journal.see(worker, shard, change.getSequenceNumber(), item(change.getKeys()),
                    new Change(record.getEventName(), item(change.getOldImage()), item(change.getNewImage())));
        }
        if (!records.isEmpty()) {
            checkpoint(checkpointer);
        }
    }

    @Override
    public void shutdown(ShutdownInput input) {
        if (input.getShutdownReason() == ShutdownReason.TERMINATE) {
            journal.end(worker, shard);
            checkpoint(input.getCheckpointer());
        }
    }

    @Override
    public void shutdownRequested(IRecordProcessorCheckpointer checkpointer) {
        checkpoint(checkpointer);
    }

    private void checkpoint(IRecordProcessorCheckpointer checkpointer) {
        try {
            checkpointer.checkpoint();
        } catch (ShutdownException lost) {
            // Another worker has the lease by now, and sees the page again.
        } catch (InvalidStateException wrong) {
            journal.fault(wrong.toString());
        }
    }

    /** The same in the words of the other SDK. */
    private static Map<String, AttributeValue> item(
            Map<String, com.amazonaws.services.dynamodbv2.model.AttributeValue> item) {
        Map<String, AttributeValue> same = new HashMap<>();
        if (item != null) {
            item.forEach((name, value) -> same.put(name, value(value)));
        }
        return same;
    }

    private static AttributeValue value(com.amazonaws.services.dynamodbv2.model.AttributeValue value) {
        AttributeValue.Builder same = AttributeValue.builder()
                .s(value.getS()).n(value.getN()).bool(value.getBOOL()).nul(value.getNULL())
                .ss(value.getSS()).ns(value.getNS());
        if (value.getB() != null) {
            same.b(SdkBytes.fromByteBuffer(value.getB()));
        }
        if (value.getL() != null) {
            same.l(value.getL().stream().map(Kcl1Processor::value).toList());
        }
        if (value.getM() != null) {
            same.m(item(value.getM()));
        }
        return same.build();
    }
}
