package partita.kcl;

import com.amazonaws.services.dynamodbv2.streamsadapter.AmazonDynamoDBStreamsAdapterClient;
import com.amazonaws.services.dynamodbv2.streamsadapter.StreamsSchedulerFactory;
import com.amazonaws.services.dynamodbv2.streamsadapter.polling.DynamoDBStreamsPollingConfig;
import java.net.URI;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.core.interceptor.SdkExecutionAttribute;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.cloudwatch.CloudWatchAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;
import software.amazon.kinesis.common.ConfigsBuilder;
import software.amazon.kinesis.common.InitialPositionInStream;
import software.amazon.kinesis.common.InitialPositionInStreamExtended;
import software.amazon.kinesis.coordinator.Scheduler;
import software.amazon.kinesis.metrics.NullMetricsFactory;
import software.amazon.kinesis.processor.StreamTracker;

/** A worker of the library's third version, through the adapter's second. */
final class Kcl3 implements Worker {
    private final Scheduler scheduler;

    private Kcl3(String name, URI endpoint, String stream, Journal journal) {
        DynamoDbAsyncClient leases = local(DynamoDbAsyncClient.builder(), endpoint, journal).build();
        DynamoDbStreamsClient streams = local(DynamoDbStreamsClient.builder(), endpoint, journal).build();
        CloudWatchAsyncClient metrics = local(CloudWatchAsyncClient.builder(), endpoint, journal).build();
        var adapter = new AmazonDynamoDBStreamsAdapterClient(streams, Region.US_EAST_1);
        StreamTracker tracker = StreamsSchedulerFactory.createSingleStreamTracker(stream,
                InitialPositionInStreamExtended.newInitialPosition(InitialPositionInStream.TRIM_HORIZON));
        ConfigsBuilder configs = new ConfigsBuilder(
                tracker, Test.APPLICATION, adapter, leases, metrics, name, () -> new Kcl3Processor(name, journal));

        // Quick to notice what happens; and no look at the machine's own metrics, for which it would ask EC2.
        var management = configs.leaseManagementConfig()
                .failoverTimeMillis(2_000).leaseAssignmentIntervalMillis(1_000L).shardSyncIntervalMillis(0);
        management.workerUtilizationAwareAssignmentConfig().disableWorkerMetrics(true)
                .workerMetricsReporterFreqInMillis(1_000);
        scheduler = StreamsSchedulerFactory.createScheduler(
                configs.checkpointConfig(),
                configs.coordinatorConfig()
                        .parentShardPollIntervalMillis(500).shardConsumerDispatchPollIntervalMillis(200),
                management,
                configs.lifecycleConfig(),
                configs.metricsConfig().metricsFactory(new NullMetricsFactory()),
                configs.processorConfig(),
                configs.retrievalConfig().retrievalSpecificConfig(
                        new DynamoDBStreamsPollingConfig(adapter).idleTimeBetweenReadsInMillis(200)),
                adapter);
        new Thread(scheduler, name).start();
    }

    private static <B extends AwsClientBuilder<B, C>, C> B local(B builder, URI endpoint, Journal journal) {
        var refusals = new ExecutionInterceptor() {
            @Override
            public void onExecutionFailure(Context.FailedExecution context, ExecutionAttributes attributes) {
                if (context.exception() instanceof AwsServiceException answer) {
                    journal.refuse(attributes.getAttribute(SdkExecutionAttribute.OPERATION_NAME),
                            answer.awsErrorDetails().errorCode());
                }
            }
        };
        return builder.endpointOverride(endpoint).region(Region.US_EAST_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("local", "local")))
                .overrideConfiguration(override -> override.addExecutionInterceptor(refusals));
    }

    @Override
    public void stop() throws Exception {
        try {
            scheduler.startGracefulShutdown().get(10, TimeUnit.SECONDS);
        } catch (TimeoutException endless) {
            // The library waits for ever for a shard that ends at this moment.
            scheduler.shutdown();
        }
    }

    @Override
    public void abandon() {
        scheduler.shutdown();
    }

    public static void main(String[] arguments) throws Exception {
        Test.run(arguments, Kcl3::new);
    }
}
