package partita.kcl;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The server's process on a folder of its own; it keeps its port when it is started again. */
final class Server implements AutoCloseable {
    private static final Pattern ADDRESS = Pattern.compile("http://127\\.0\\.0\\.1:(\\d+)");

    private final String binary;
    private final String retention;
    private final Path folder = Files.createTempDirectory("partita-kcl");
    private String port = "0";
    private Process process;

    Server(String binary, String retention) throws IOException {
        this.binary = binary;
        this.retention = retention;
        // Nothing is left running, however this program ends.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> process.destroyForcibly()));
        start();
    }

    void start() throws IOException {
        process = new ProcessBuilder(List.of(binary, "serve", "--port", port, "--data", folder.toString(),
                "--stream-retention", retention)).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        BufferedReader output = new BufferedReader(new InputStreamReader(process.getInputStream()));
        String line = output.readLine();
        Matcher address = ADDRESS.matcher(line == null ? "" : line);
        if (!address.find()) {
            throw new IOException("the server did not start: " + line);
        }
        port = address.group(1);
        Thread drain = new Thread(() -> output.lines().forEach(System.err::println));
        drain.setDaemon(true);
        drain.start();
    }

    URI endpoint() {
        return URI.create("http://127.0.0.1:" + port);
    }

    /** SIGKILL. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
    }

    @Override
    public void close() throws IOException, InterruptedException {
        kill();
        try (var files = Files.walk(folder)) {
            files.sorted((a, b) -> b.compareTo(a)).forEach(path -> path.toFile().delete());
        }
    }
}
