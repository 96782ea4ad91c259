// Subscribes to channels, by Action Cable's protocol with positions: after a lost connection it asks for the messages that it has missed,
// and calls `missed` where the server has not kept them.
//
//   import { Cable } from "/cable/client.js"
//   const cable = new Cable()
//   cable.addEventListener("state", ({ detail }) => { document.body.dataset.cable = detail })
//   const room = cable.subscribe("RoomChannel", { id: 7 }, { received: show, missed: reload, position: main.dataset.position })
//   room.perform("speak", { text: "hello" })
const protocols = ["actioncable-v1-ext-json", "actioncable-v1-json"]
const silence = 10000 // milliseconds without a heartbeat, after which the connection counts as lost
const longest = 30000 // milliseconds between two attempts to connect, or to subscribe
const steady = 5000 // milliseconds after which a connection counts as good
const home = new URL(import.meta.url).pathname.match(/^(.+)\/client\.js$/)?.[1] ?? "/cable"

// Those whose attempts fail at the same time try again at different times.
const pause = (attempts) => Math.min(longest, 1000 * 2 ** (attempts - 1)) * (0.5 + Math.random())

export class Cable extends EventTarget {
  // "connecting", "connected", "offline" (it goes on trying), or "signed out" (the server wants it to stay away). Each change is an event
  // `state`, whose `detail` is the new one.
  state = "connecting"

  // The path of the server, where this file is below it.
  constructor(path = home) {
    super()
    this.url = new URL(path, location.href)
    this.url.protocol = this.url.protocol.replace("http", "ws")
    this.subscriptions = new Map()
    this.attempts = 0
    addEventListener("online", () => this.hurry())
    addEventListener("offline", () => this.welcomed && this.lost())
    // A browser may keep a page that was left, with its connection: others would see its user there.
    addEventListener("pagehide", () => this.waiting || this.lost())
    addEventListener("pageshow", (event) => event.persisted && this.hurry())
    document.addEventListener("visibilitychange", () => document.hidden || this.hurry())
    this.open()
  }

  // Calls, all but `received` optional: `received(message)`; `connected()` when it is subscribed, also again; `missed()` when messages are lost,
  // so the page loads its state; `rejected()`; `presence(event)`. `position` is the page's: see Pelton::Cable.position.
  //
  // Returns functions to perform an action of the channel, which says whether it was sent, and to unsubscribe.
  subscribe(channel, params, { received, connected = () => {}, missed = () => {}, rejected = () => {}, presence, position }) {
    const identifier = JSON.stringify({ channel, ...params })
    const subscription = { identifier, received, connected, missed, rejected, presence, positions: position ? JSON.parse(position) : {}, failures: 0 }
    this.subscriptions.set(identifier, subscription)
    this.ask(subscription)
    return {
      perform: (action, data = {}) => this.send({ command: "message", identifier, data: JSON.stringify({ action, ...data }) }),
      unsubscribe: () => this.leave(subscription)
    }
  }

  // Ends it for good.
  close() {
    this.stopped = "offline"
    this.lost()
  }

  open() {
    clearTimeout(this.waiting)
    this.waiting = undefined
    this.socket = new WebSocket(this.url, protocols)
    this.socket.onmessage = (event) => this.receive(JSON.parse(event.data))
    this.socket.onclose = () => this.lost()
    this.listen()
  }

  // The browser is online, or the page in view, again.
  hurry() {
    if (this.waiting) this.open()
  }

  listen() {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.lost(), silence)
  }

  lost() {
    for (const timer of [this.timer, this.good, this.waiting]) clearTimeout(timer)
    this.welcomed = false
    this.socket.onclose = this.socket.onmessage = null
    this.socket.close()
    if (this.stopped) return this.change(this.stopped)
    this.attempts++
    this.change(this.attempts > 1 || !navigator.onLine ? "offline" : "connecting")
    this.waiting = setTimeout(() => this.open(), pause(this.attempts))
  }

  change(state) {
    if (state === this.state) return
    this.state = state
    this.dispatchEvent(new CustomEvent("state", { detail: state }))
  }

  send(command) {
    if (this.welcomed) this.socket.send(JSON.stringify(command))
    return Boolean(this.welcomed)
  }

  // With `retry`, an error of the server is no rejection.
  ask({ identifier, positions }) {
    const history = this.extended && Object.keys(positions).length ? { streams: positions } : undefined
    this.send({ command: "subscribe", identifier, history, retry: true })
  }

  leave(subscription) {
    clearTimeout(subscription.again)
    if (this.subscriptions.get(subscription.identifier) !== subscription) return
    this.subscriptions.delete(subscription.identifier)
    this.send({ command: "unsubscribe", identifier: subscription.identifier })
  }

  receive(message) {
    this.listen()
    const subscription = this.subscriptions.get(message.identifier)
    if (message.type === "welcome") this.welcome()
    else if (message.type === "ping") this.extended && this.send({ command: "pong" })
    else if (message.type === "disconnect") this.disconnected(message)
    else if (!subscription) return
    else if (message.type === "confirm_subscription") this.confirmed(subscription)
    else if (message.type === "retry_subscription") this.failed(subscription)
    else if (message.type === "reject_subscription") this.subscriptions.delete(message.identifier) && subscription.rejected()
    else if (message.type === "presence") subscription.presence?.(message.message)
    else if (message.type === "reject_history") this.forget(subscription)
    else if (!message.type) this.deliver(subscription, message)
  }

  welcome() {
    this.welcomed = true
    this.extended = this.socket.protocol === protocols[0]
    this.good = setTimeout(() => { this.attempts = 0 }, steady)
    this.change("connected")
    for (const subscription of this.subscriptions.values()) {
      clearTimeout(subscription.again)
      this.ask(subscription)
    }
  }

  disconnected({ reason, reconnect }) {
    if (!reconnect) this.stopped = reason === "too_many_refused_commands" ? "offline" : "signed out"
  }

  // One that has returned without a position cannot know what it has missed.
  confirmed(subscription) {
    if (subscription.confirmed && !Object.keys(subscription.positions).length) subscription.missed()
    subscription.confirmed = true
    subscription.failures = 0
    if (subscription.presence && this.extended) this.send({ command: "presence", identifier: subscription.identifier })
    subscription.connected()
  }

  failed(subscription) {
    subscription.again = setTimeout(() => this.ask(subscription), pause(++subscription.failures))
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
