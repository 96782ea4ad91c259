// The same as cable.ru, by node and ws: node cable.js PORT
const http = require("http")
const { WebSocketServer } = require("ws")

const members = new Map() // the sockets of an identifier
const server = http.createServer((request, response) => {
  const count = Number(request.url.split("?")[1])
  for (let n = 0; n < count; n++) {
    const message = JSON.stringify({ n, at: Number(process.hrtime.bigint()) / 1e9 })
    for (const [identifier, sockets] of members) {
      const text = Buffer.from(`{"identifier":${JSON.stringify(identifier)},"message":${message}}`)
      for (const socket of sockets) socket.send(text, { binary: false })
    }
  }
  response.writeHead(201, { "content-type": "text/plain" }).end("sent")
})

const sockets = new WebSocketServer({ server, path: "/cable", handleProtocols: () => "actioncable-v1-json" })
sockets.on("connection", (socket) => {
  socket.send('{"type":"welcome"}')
  socket.on("message", (data) => {
    const { command, identifier } = JSON.parse(data)
    if (command !== "subscribe") return
    if (!members.has(identifier)) members.set(identifier, new Set())
    members.get(identifier).add(socket)
    socket.on("close", () => members.get(identifier).delete(socket))
    socket.send(JSON.stringify({ identifier, type: "confirm_subscription" }))
  })
})
setInterval(() => {
  const ping = JSON.stringify({ type: "ping", message: Math.floor(Date.now() / 1000) })
  for (const socket of sockets.clients) socket.send(ping)
}, 3000)
server.listen(Number(process.argv[2]), "127.0.0.1")
