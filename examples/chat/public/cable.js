// Subscribes to channels, by Action Cable's protocol with positions: after a lost connection it asks for the messages that it has
// missed, and calls `missed` where the server has not kept them.
const protocols = ["actioncable-v1-ext-json", "actioncable-v1-json"]
const silence = 10000 // milliseconds without a heartbeat, after which the connection counts as lost
const longest = 30000 // milliseconds between two attempts to connect

export class Cable {
  constructor(path = "/cable") {
    this.url = new URL(path, location.href)
    this.url.protocol = this.url.protocol.replace("http", "ws")
    this.subscriptions = new Map()
    this.attempts = 0
    this.open()
  }

  // Returns functions to perform an action of the channel, and to unsubscribe.
  subscribe(channel, params, { received, connected = () => {}, missed = () => {}, presence }) {
    const identifier = JSON.stringify({ channel, ...params })
    this.subscriptions.set(identifier, { identifier, received, connected, missed, presence, positions: {} })
    this.send({ command: "subscribe", identifier })
    return {
      perform: (action, data = {}) => this.send({ command: "message", identifier, data: JSON.stringify({ action, ...data }) }),
      unsubscribe: () => this.subscriptions.delete(identifier) && this.send({ command: "unsubscribe", identifier })
    }
  }

  open() {
    this.socket = new WebSocket(this.url, protocols)
    this.socket.onmessage = (event) => this.receive(JSON.parse(event.data))
    this.socket.onclose = () => this.lost()
    this.listen()
  }

  listen() {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.lost(), silence)
  }

  // Clients that lose their connections at the same time come back at different times.
  lost() {
    clearTimeout(this.timer)
    this.welcomed = false
    this.socket.onclose = this.socket.onmessage = null
    this.socket.close()
    if (this.stopped) return
    const delay = Math.min(longest, 1000 * 2 ** this.attempts++)
    setTimeout(() => this.open(), delay * (0.5 + Math.random()))
  }

  send(command) {
    if (this.welcomed) this.socket.send(JSON.stringify(command))
  }

  receive(message) {
    this.listen()
    const subscription = this.subscriptions.get(message.identifier)
    if (message.type === "welcome") this.resume()
    else if (message.type === "ping") this.send({ command: "pong" })
    else if (message.type === "disconnect") this.stopped = !message.reconnect
    else if (!subscription) return
    else if (message.type === "confirm_subscription") this.confirmed(subscription)
    else if (message.type === "presence") subscription.presence?.(message.message)
    else if (message.type === "reject_history") this.forget(subscription)
    else if (!message.type) this.deliver(subscription, message)
  }

  resume() {
    this.welcomed = true
    this.attempts = 0
    for (const [identifier, { positions }] of this.subscriptions) {
      const history = Object.keys(positions).length ? { streams: positions } : undefined
      this.send({ command: "subscribe", identifier, history })
    }
  }

  // One that has returned without a position cannot know what it has missed.
  confirmed(subscription) {
    if (subscription.confirmed && !Object.keys(subscription.positions).length) subscription.missed()
    subscription.confirmed = true
    if (subscription.presence) this.send({ command: "presence", identifier: subscription.identifier })
    subscription.connected()
  }

  forget(subscription) {
    subscription.positions = {}
    subscription.missed()
  }

  deliver(subscription, { message, stream_id: stream, epoch, offset }) {
    if (stream) subscription.positions[stream] = { epoch, offset }
    subscription.received(message)
  }
}
