package partita.kcl;

import java.net.URI;

/** A running worker of a version of the Kinesis Client Library. */
public interface Worker {
    /** Lets its processors checkpoint, and gives its leases up. */
    void stop() throws Exception;

    /** Stops at once, and leaves its leases to run out. */
    void abandon() throws Exception;

    interface Starter {
        Worker start(String name, URI endpoint, String stream, Journal journal) throws Exception;
    }
}
