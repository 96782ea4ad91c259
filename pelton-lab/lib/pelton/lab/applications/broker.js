"use strict";
// Article 002's broker on node, without a library: values are gathered from as many connections as the blocking ones have,
// each with one request at a time. Its argument is the port.
const http = require("http"), net = require("net");
const [host, port] = process.env.MEMCACHE_SERVERS.split(":");
const idle = [], waiting = [];

class Connection {
  constructor() {
    this.socket = net.connect(+port, host);
    this.socket.setNoDelay(true);
    this.socket.on("data", (piece) => this.receive(piece));
  }

  get(key, done) {
    this.pieces = [];
    this.bytes = 0;
    this.expected = -1;
    this.done = done;
    this.socket.write(`get ${key}\r\n`);
  }

  receive(piece) {
    this.pieces.push(piece);
    this.bytes += piece.length;
    if (this.expected < 0 && !this.head()) return;
    if (this.bytes >= this.expected) this.finish();
  }

  // VALUE key flags bytes\r\n... \r\nEND\r\n, or END\r\n.
  head() {
    const all = Buffer.concat(this.pieces), end = all.indexOf("\r\n");
    if (end < 0) return false;
    const words = all.toString("latin1", 0, end).split(" ");
    this.start = end + 2;
    this.length = words[0] === "VALUE" ? +words[3] : -1;
    this.expected = this.length < 0 ? this.start : this.start + this.length + "\r\nEND\r\n".length;
    return true;
  }

  finish() {
    const { done } = this;
    const value = this.length < 0 ? null : Buffer.concat(this.pieces).subarray(this.start, this.start + this.length);
    const next = waiting.shift();
    if (next) this.get(...next);
    else idle.push(this);
    done(value);
  }
}

for (let n = 0; n < +process.env.CONNECTIONS; n++) idle.push(new Connection());

http.createServer((request, response) => {
  const job = [request.url.slice(1), (value) => {
    response.writeHead(value ? 200 : 404, { "content-length": value ? value.length : 0 });
    response.end(value);
  }];
  const connection = idle.pop();
  if (connection) connection.get(...job);
  else waiting.push(job);
}).listen({ port: +process.argv[1], host: "127.0.0.1", backlog: 4096 });
