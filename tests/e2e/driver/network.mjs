// A network proxy that can refuse connections, stall them, or let them through.
import http from "node:http";
import net from "node:net";
import { freePort } from "./ports.mjs";

export class Network {
  static async start() {
    const port = await freePort();
    const network = new Network(port);
    await new Promise((resolve) => network.server.listen(port, "127.0.0.1", resolve));
    return network;
  }

  constructor(port) {
    /** "closed": connections are refused; "stalled": they wait forever; "open". */
    this.state = "closed";
    /** Hosts that were requested. */
    this.asked = [];
    this.url = `http://127.0.0.1:${port}`;
    this.server = http.createServer((_request, response) => response.writeHead(502).end());
    this.server.on("connect", (request, socket) => this.connect(request.url, socket));
  }

  connect(address, socket) {
    this.asked.push(address);
    socket.on("error", () => {});
    if (this.state === "closed") return socket.destroy();
    if (this.state === "stalled") return undefined;
    const [host, port] = address.split(":");
    const upstream = net.connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on("error", () => socket.destroy());
    return socket.on("close", () => upstream.destroy());
  }

  /** Environment variables for a program. */
  get environment() {
    const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
    const proxies = names.flatMap((name) => [name, name.toLowerCase()]).map((name) => [name, this.url]);
    return {
      ...Object.fromEntries(proxies),
      NO_PROXY: "127.0.0.1,localhost",
      no_proxy: "127.0.0.1,localhost",
    };
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }
}
