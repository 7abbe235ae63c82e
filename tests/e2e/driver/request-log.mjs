// Passes requests to an HTTP server on this machine unchanged, and logs each one with the status of its answer.
import { once } from "node:events";
import { createServer, request } from "node:http";

/**
 * @param {number} port the server's
 * @returns {Promise<{ url: string, log: () => string, stop: () => void }>}
 */
export async function startRequestLog(port) {
  const lines = [];
  const server = createServer((asked, answer) => {
    const { method, url, headers } = asked;
    const onward = request({ host: "127.0.0.1", port, method, path: url, headers }, (response) => {
      lines.push(`${method} ${url} ${response.statusCode}`);
      answer.writeHead(response.statusCode, response.rawHeaders);
      response.on("error", () => answer.destroy()).pipe(answer);
    });
    onward.on("error", () => answer.destroy()); // as if the server itself broke the connection
    answer.on("close", () => onward.destroy());
    asked.pipe(onward);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, log: () => lines.join("\n"), stop };
}
