import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

import static java.nio.charset.StandardCharsets.UTF_8;

/** Prints the tasks of an account, then each change as it comes. Needs nothing but Java 17: java Live.java */
public class Live {
    static final String URL = System.getenv().getOrDefault("TASKMESH_URL", "http://127.0.0.1:4000");
    static final String TOKEN = System.getenv().getOrDefault("TASKMESH_TOKEN", "");
    static final String TASKS = "{ tasks(first: 100) { changesCursor edges { node { title } } } }";
    static final String CHANGES = "subscription { taskChanges { kind task { id title completed version } } }";
    /** The server says something every twelve seconds. */
    static final Duration SILENCE = Duration.ofSeconds(30);
    /** What passes: the list is read again, after a pause. After any other code it is of no use to come back. */
    static final Set<String> PASSING = Set.of("CURSOR_EXPIRED", "SERVICE_UNAVAILABLE", "RATE_LIMITED", "INTERNAL_SERVER_ERROR");

    final HttpClient http = HttpClient.newBuilder().connectTimeout(SILENCE).build();
    /** Behind which change we stand; null: the list has not been read. */
    String cursor;

    public static void main(String[] arguments) throws InterruptedException {
        System.err.println(TOKEN.isEmpty() ? "TASKMESH_TOKEN must be an access token or a personal token." : new Live().run());
        System.exit(1);
    }

    /** Returns why it ended: the code of an error that a new connection does not mend. */
    String run() throws InterruptedException {
        for (int failures = 0;; failures++) {
            String before = cursor;
            String end = readAndFollow();
            if (PASSING.contains(end)) cursor = null; // the list is read again
            else if (!end.isEmpty()) return end;
            if (cursor != null && !cursor.equals(before)) failures = 0;
            System.out.println("reconnecting");
            // Grows with each failure and differs from client to client, so that not all come back at once.
            double wait = Math.min(10_000, 250 * Math.pow(2, failures));
            Thread.sleep((long) (wait * ThreadLocalRandom.current().nextDouble(0.5, 1)));
        }
    }

    /** Reads the list unless its cursor is known, then follows. Returns an error's code, or nothing when the connection broke. */
    String readAndFollow() throws InterruptedException {
        try {
            String end = cursor == null ? showTasks() : "";
            return end.isEmpty() ? follow() : end;
        } catch (IOException broken) {
            System.err.println(broken);
            return "";
        }
    }

    /**
     * Prints the list as it came, and remembers the cursor behind which its changes begin: together they miss nothing. Returns
     * an error's code, or nothing.
     */
    String showTasks() throws IOException, InterruptedException {
        HttpResponse<InputStream> response = http.send(request(TASKS).build(), BodyHandlers.ofInputStream());
        try (InputStream body = response.body()) {
            if (response.statusCode() != 200) throw new IOException("The list failed with " + response.statusCode());
            CompletableFuture<Void> silence = closeAfterSilence(body);
            String list = new String(body.readAllBytes(), UTF_8).strip();
            silence.cancel(false);
            if (list.startsWith("{\"errors\"")) return valueOf("code", list);
            cursor = valueOf("changesCursor", list);
            System.out.println(list);
            return "";
        }
    }

    /** Prints the changes behind the cursor while the connection lasts. Returns an error's code, or nothing. */
    String follow() throws IOException, InterruptedException {
        HttpRequest request = request(CHANGES)
            .header("Accept", "text/event-stream")
            .header("Last-Event-ID", cursor)
            .build();
        HttpResponse<InputStream> response = http.send(request, BodyHandlers.ofInputStream());
        try (InputStream body = response.body()) {
            if (response.statusCode() == 401) return "UNAUTHENTICATED";
            if (response.statusCode() != 200) throw new IOException("The stream failed with " + response.statusCode());
            System.out.println("live");
            return readEvents(body);
        }
    }

    String readEvents(InputStream body) throws IOException {
        BufferedReader reader = new BufferedReader(new InputStreamReader(body, UTF_8));
        Map<String, String> event = new HashMap<>();
        while (true) {
            CompletableFuture<Void> silence = closeAfterSilence(body);
            String line = reader.readLine();
            silence.cancel(false);
            if (line == null) return "";
            if (line.isEmpty()) {
                String data = event.getOrDefault("data", "");
                if (data.startsWith("{\"errors\"")) return valueOf("code", data);
                if ("next".equals(event.get("event"))) System.out.println(data);
                cursor = event.getOrDefault("id", cursor);
                event.clear();
            } else {
                String[] field = line.split(": ?", 2);
                event.put(field[0], field.length == 2 ? field[1] : "");
            }
        }
    }

    /** A network that went away without a word: closing the stream ends the read that waits for it. */
    static CompletableFuture<Void> closeAfterSilence(InputStream body) {
        CompletableFuture<Void> timer = new CompletableFuture<Void>()
            .completeOnTimeout(null, SILENCE.toSeconds(), TimeUnit.SECONDS);
        timer.thenRun(() -> {
            try {
                body.close();
            } catch (IOException alreadyClosed) {
                // what we wanted
            }
        });
        return timer;
    }

    HttpRequest.Builder request(String query) {
        return HttpRequest.newBuilder(URI.create(URL + "/graphql"))
            .timeout(SILENCE) // until the response begins
            .header("Content-Type", "application/json")
            .header("Authorization", "Bearer " + TOKEN)
            .POST(BodyPublishers.ofString("{\"query\":\"" + query + "\"}"));
    }

    /** Of a cursor or a code, which contain nothing to be escaped. For all else use the JSON library of your application. */
    static String valueOf(String name, String json) throws IOException {
        var found = Pattern.compile("\"" + name + "\":\"([^\"]*)\"").matcher(json);
        if (!found.find()) throw new IOException("no " + name + " in " + json);
        return found.group(1);
    }
}
