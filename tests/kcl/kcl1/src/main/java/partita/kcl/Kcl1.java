package partita.kcl;

import com.amazonaws.AmazonServiceException;
import com.amazonaws.Request;
import com.amazonaws.Response;
import com.amazonaws.auth.AWSStaticCredentialsProvider;
import com.amazonaws.auth.BasicAWSCredentials;
import com.amazonaws.client.builder.AwsClientBuilder;
import com.amazonaws.client.builder.AwsClientBuilder.EndpointConfiguration;
import com.amazonaws.handlers.HandlerContextKey;
import com.amazonaws.handlers.RequestHandler2;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDB;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBClientBuilder;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBStreams;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBStreamsClientBuilder;
import com.amazonaws.services.dynamodbv2.streamsadapter.AmazonDynamoDBStreamsAdapterClient;
import com.amazonaws.services.dynamodbv2.streamsadapter.StreamsWorkerFactory;
import com.amazonaws.services.kinesis.clientlibrary.interfaces.v2.IRecordProcessorFactory;
import com.amazonaws.services.kinesis.clientlibrary.lib.worker.InitialPositionInStream;
import com.amazonaws.services.kinesis.clientlibrary.lib.worker.KinesisClientLibConfiguration;
import com.amazonaws.services.kinesis.metrics.impl.NullMetricsFactory;
import java.net.URI;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A worker of the library's first version, through the adapter's first. */
final class Kcl1 implements Worker {
    private static final AWSStaticCredentialsProvider CREDENTIALS =
            new AWSStaticCredentialsProvider(new BasicAWSCredentials("local", "local"));

    private final com.amazonaws.services.kinesis.clientlibrary.lib.worker.Worker worker;

    private Kcl1(String name, URI endpoint, String stream, Journal journal) {
        AmazonDynamoDB leases = local(AmazonDynamoDBClientBuilder.standard(), endpoint, journal);
        AmazonDynamoDBStreams streams = local(AmazonDynamoDBStreamsClientBuilder.standard(), endpoint, journal);
        KinesisClientLibConfiguration configuration =
                new KinesisClientLibConfiguration(Test.APPLICATION, stream, CREDENTIALS, name)
                        .withInitialPositionInStream(InitialPositionInStream.TRIM_HORIZON)
                        .withFailoverTimeMillis(2_000)
                        .withShardSyncIntervalMillis(1_000)
                        .withParentShardPollIntervalMillis(500)
                        .withIdleTimeBetweenReadsInMillis(200)
                        .withMaxRecords(1_000)
                        .withRegionName("us-east-1");
        IRecordProcessorFactory processors = () -> new Kcl1Processor(name, journal);
        worker = StreamsWorkerFactory.createDynamoDbStreamsWorker(processors, configuration,
                new AmazonDynamoDBStreamsAdapterClient(streams), leases, new NullMetricsFactory(),
                Executors.newCachedThreadPool());
        new Thread(worker, name).start();
    }

    private static <B extends AwsClientBuilder<B, C>, C> C local(B builder, URI endpoint, Journal journal) {
        return builder.withCredentials(CREDENTIALS)
                .withEndpointConfiguration(new EndpointConfiguration(endpoint.toString(), "us-east-1"))
                .withRequestHandlers(new RequestHandler2() {
                    @Override
                    public void afterError(Request<?> request, Response<?> response, Exception exception) {
                        if (exception instanceof AmazonServiceException answer) {
                            journal.refuse(request.getHandlerContext(HandlerContextKey.OPERATION_NAME),
                                    answer.getErrorCode());
                        }
                    }
                })
                .build();
    }

    @Override
    public void stop() throws Exception {
        try {
            worker.startGracefulShutdown().get(10, TimeUnit.SECONDS);
        } catch (TimeoutException endless) {
            worker.shutdown();
        }
    }

    @Override
    public void abandon() {
        worker.shutdown();
    }

    public static void main(String[] arguments) throws Exception {
        Test.run(arguments, Kcl1::new);
    }
}
