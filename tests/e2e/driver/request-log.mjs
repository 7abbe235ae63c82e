// Passes requests to an HTTP server on this machine unchanged, and logs each one with the status of its answer. Requests
// with a text can be held back, so that a test sees what is shown while they are not answered.
import { once } from "node:events";
import { createServer, request } from "node:http";
import { text } from "node:stream/consumers";

/**
 * @param {number} port the server's
 * @returns {Promise<{ url: string, log: () => string, hold: (part: string) => () => void, stop: () => void }>}
 *   `hold` holds back requests whose body has a text, and returns what lets them go on
 */
export async function startRequestLog(port) {
  const lines = [];
  let held;
  const server = createServer(async (asked, answer) => {
    const { method, url, headers } = asked;
    const body = await text(asked).catch(() => "");
    if (held && body.includes(held.part)) await held.released;
    const onward = request({ host: "127.0.0.1", port, method, path: url, headers }, (response) => {
      lines.push(`${method} ${url} ${response.statusCode}`);
      answer.writeHead(response.statusCode, response.rawHeaders);
      response.on("error", () => answer.destroy()).pipe(answer);
    });
    onward.on("error", () => answer.destroy()); // as if the server itself broke the connection
    answer.on("close", () => onward.destroy());
    onward.end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const hold = (part) => {
    let release;
    held = { part, released: new Promise((resolve) => (release = resolve)) };
    return () => {
      held = undefined;
      release();
    };
  };
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, log: () => lines.join("\n"), hold, stop };
}
