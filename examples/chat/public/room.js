// A room's page: messages as they come, a composer that sends without loading the page, older messages while scrolling.
const days = new Intl.DateTimeFormat([], { weekday: "long", day: "numeric", month: "long", year: "numeric" })
const retries = 6 // attempts to send a message, with doubling delays from half a second on

export function openRoom(cable, area) {
  const list = area.querySelector("ol")
  const room = area.dataset.room
  const me = document.body.dataset.user
  const live = area.dataset.live === "true" // or the page of older messages
  const last = () => Math.max(0, ...[...list.children].map((item) => Number(item.dataset.id) || 0))
  const atEnd = () => area.scrollHeight - area.scrollTop - area.clientHeight < 120
  const toEnd = () => { area.scrollTop = area.scrollHeight }
  const element = (html) => {
    const template = document.createElement("template")
    template.innerHTML = html.trim()
    return template.content.firstElementChild
  }

  // Puts a message in the order of its id, once. Its sender's page shows it already. An older version than the shown one comes too late.
  function show(html, clientId, version = 0) {
    const message = element(html)
    const shown = document.getElementById(message.id)
    if (shown && version < Number(shown.dataset.version ?? list.dataset.version)) return
    message.dataset.version = version
    const here = shown || (clientId && list.querySelector(`[data-client="${CSS.escape(clientId)}"]`))
    const focused = here?.contains(document.activeElement) && document.activeElement
    const follow = atEnd() || message.dataset.user === me
    if (here) here.replaceWith(message)
    else {
      const next = [...list.children].find((item) => Number(item.dataset.id) > Number(message.dataset.id) || item.dataset.client)
      list.insertBefore(message, next || null)
    }
    decorate(message)
    arrange()
    if (focused) focusAgain(message, focused)
    if (follow) toEnd()
    seen()
  }

  // What had the focus may be gone, as a reaction that was taken back. The tools are visible only while the message has the focus.
  function focusAgain(message, before) {
    const alike = (one) => one.dataset.emoji === before.dataset.emoji && one.href === before.href
    const link = message.querySelector(".meta a")
    link.focus({ preventScroll: true })
    const all = [...message.querySelectorAll("a, button, [role=button]")]
    const again = all.find((one) => alike(one) && one.parentElement.className === before.parentElement.className) || all.find(alike) || link
    again.focus({ preventScroll: true })
  }

  function decorate(item) {
    item.classList.toggle("own", item.dataset.user === me)
    for (const chip of item.querySelectorAll(".reactions [data-emoji]")) {
      chip.classList.toggle("mine", chip.dataset.users.split(" ").includes(me))
      chip.tabIndex = 0
      chip.setAttribute("role", "button")
    }
    for (const time of item.querySelectorAll("time")) time.textContent = new Date(time.dateTime).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
    if (item.dataset.id && !item.querySelector(".tools")) item.append(tools(item))
    for (const mention of item.querySelectorAll(".mention")) mention.classList.toggle("me", mention.dataset.handle === document.body.dataset.handle)
  }

  // A line between days, and one name above what a user writes within five minutes.
  function arrange() {
    let before
    for (const item of list.querySelectorAll("[data-id]")) {
      const at = new Date(item.querySelector("time").dateTime)
      const { user, day } = Object.assign(item.dataset, { day: item.dataset.day ?? days.format(at) })
      item.classList.toggle("day", day !== before?.day)
      item.classList.toggle("follows", day === before?.day && user === before.user && at - before.at < 300000)
      before = { user, day, at }
    }
  }

  let reported = 0
  function seen() {
    if (document.hidden || !live || last() <= reported) return
    if (channel.perform("read", { id: last() })) reported = last()
  }

  // Messages of this room, and the link to older ones.
  async function load(query) {
    const response = await fetch(`/rooms/${room}/messages${query}`).catch(() => null)
    if (!response?.ok) return {}
    const template = document.createElement("template")
    template.innerHTML = await response.text()
    return { items: [...template.content.querySelectorAll("li.message")], link: template.content.querySelector(".older"), version: template.content.querySelector("ol")?.dataset.version }
  }

  const fetchMissed = async () => (await load(`?after=${last()}`)).items?.forEach((item) => show(item.outerHTML))

  // Edits and deletions may be missing, too: the list begins again with the newest messages.
  async function refresh() {
    const { items, link, version } = await load("")
    if (!items) return
    list.dataset.version = version
    area.querySelector(".older")?.remove()
    area.prepend(...[link].filter(Boolean))
    list.replaceChildren(...items, ...list.querySelectorAll("[data-client]"))
    items.forEach(decorate)
    arrange()
    toEnd()
    seen()
  }

  const channel = cable.subscribe("RoomChannel", { id: Number(room) }, {
    position: document.querySelector("main").dataset.position,
    connected: () => seen(),
    missed: () => live && refresh(),
    presence: (event) => here(event),
    received: (message) => {
      if (message.type === "message" && live) show(message.html, message.client_id)
      else if (message.type === "edit") document.getElementById(`message_${message.id}`) && show(message.html, message.client_id, message.version)
      else if (message.type === "delete") document.getElementById(`message_${message.id}`)?.remove(), arrange()
      else if (message.type === "typing" && String(message.user) !== me) typing(message.name)
      else if (message.type === "gone") location.assign("/")
    }
  })

  // ---- who is there, who types ----
  const present = new Map()
  function here({ type, id, info, records }) {
    if (type === "info") {
      present.clear()
      for (const one of records) present.set(String(one.id), one.info)
    } else if (type === "join") present.set(String(id), info)
    else if (type === "leave") present.delete(String(id))
    const names = [...present.values()].map((about) => about?.name).filter(Boolean)
    document.querySelector("#presence").textContent = names.length > 8 ? `${names.length} people are here` : names.length ? `Here: ${names.sort().join(", ")}` : ""
  }

  const typists = new Map()
  function typing(name) {
    clearTimeout(typists.get(name))
    typists.set(name, setTimeout(() => { typists.delete(name); say() }, 4000))
    say()
  }
  function say() {
    const names = [...typists.keys()]
    document.querySelector("#typing").textContent = names.length ? `${names.join(", ")} ${names.length > 1 ? "are" : "is"} typing …` : ""
  }

  // ---- sending ----
  const form = document.querySelector("#composer")
  const text = form.querySelector("textarea")
  const file = form.querySelector("[type=file]")
  const chosen = () => file.parentElement.classList.toggle("chosen", file.files.length > 0)
  file.addEventListener("change", chosen)
  const draft = `draft:${me}:${room}` // outlives signing in again
  text.value ||= sessionStorage.getItem(draft) ?? ""
  let typed = 0
  text.addEventListener("input", () => {
    sessionStorage.setItem(draft, text.value)
    if (Date.now() - typed < 2500) return
    typed = Date.now()
    channel.perform("typing")
  })
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
    event.preventDefault()
    form.requestSubmit()
  })
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    if (!text.value.trim() && !file.files.length) return
    send(new FormData(form), text.value)
    form.reset()
    text.value = ""
    sessionStorage.removeItem(draft)
    chosen()
    text.focus()
  })

  let sent = Promise.resolve()
  // The client's id makes it safe to send again what may have arrived.
  function send(data, words) {
    const id = crypto.randomUUID?.() || `${Date.now()}-${Math.random().toString(36).slice(2)}`
    data.set("message[client_id]", id)
    const waiting = document.createElement("li")
    waiting.className = "message own waiting"
    waiting.dataset.client = id
    waiting.dataset.words = words
    const body = document.createElement("div")
    body.className = "text"
    body.textContent = words || data.get("file").name
    waiting.append(body)
    list.append(waiting)
    toEnd()
    sent = sent.then(() => post(data, waiting, 0)) // in their order
  }

  async function post(data, waiting, attempt) {
    try {
      const response = await fetch(form.action, { method: "POST", body: data, headers: { accept: "application/json" } })
      if (response.status === 201) return settle(waiting)
      if (response.status < 500 && response.status !== 429) {
        const { error, detail } = await response.json().catch(() => ({}))
        return fail(waiting, error || detail || (response.status === 413 ? "The file is too large." : "It was not sent."))
      }
    } catch { /* the network: again */ }
    if (attempt >= retries) return fail(waiting, "It was not sent.", () => post(data, waiting, 0))
    await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** attempt))
    return post(data, waiting, attempt + 1)
  }

  // Its HTML comes over the cable, or is fetched if that is away.
  function settle(waiting) {
    setTimeout(() => { if (waiting.isConnected) waiting.remove(), fetchMissed() }, 3000)
  }

  function fail(waiting, problem, again) {
    waiting.classList.add("failed")
    const note = document.createElement("p")
    note.setAttribute("role", "alert")
    note.textContent = `${problem} `
    const button = document.createElement("button")
    button.textContent = again ? "Try again" : "Write again"
    button.onclick = () => { note.remove(); waiting.classList.remove("failed"); again ? again() : writeAgain(waiting) }
    note.append(button)
    waiting.append(note)
  }

  function writeAgain(waiting) {
    text.value = [waiting.dataset.words, text.value].filter(Boolean).join("\n")
    sessionStorage.setItem(draft, text.value)
    waiting.remove()
    text.focus()
  }

  // ---- what can be done to a message, and older ones ----
  // Shown when the pointer or the focus is on the message. Its page has the same, without scripts.
  function tools(item) {
    const bar = document.createElement("p")
    bar.className = "tools"
    for (const emoji of area.dataset.emoji.split(" ")) bar.insertAdjacentHTML("beforeend", `<button data-emoji="${emoji}" aria-label="React with ${emoji}">${emoji}</button>`)
    if (item.dataset.user === me) {
      bar.insertAdjacentHTML("beforeend", `<a href="/rooms/${room}/messages/${item.dataset.id}">Edit</a> <button data-delete>Delete</button>`)
    }
    return bar
  }
  function act(target) {
    const button = target.closest("[data-emoji], [data-delete]")
    const path = button && `/rooms/${room}/messages/${button.closest("li.message").dataset.id}`
    if (!button) return
    if (button.dataset.emoji) fetch(`${path}/reactions`, { method: "POST", body: new URLSearchParams({ emoji: button.dataset.emoji }), redirect: "manual" })
    else if (confirm("Delete this message?")) fetch(path, { method: "DELETE", redirect: "manual" })
  }
  list.addEventListener("click", (event) => act(event.target))
  list.addEventListener("keydown", (event) => { if (event.key === "Enter" && event.target.matches(".reactions *")) act(event.target) })

  let loading = false
  async function older() {
    const link = area.querySelector("[data-before]")
    if (!link || loading) return
    loading = true
    const { items, link: next } = await load(`?before=${link.dataset.before}`)
    loading = false
    if (!items) return
    const height = area.scrollHeight - area.scrollTop
    link.parentElement.replaceWith(...[next].filter(Boolean))
    items.forEach(decorate)
    list.prepend(...items)
    arrange()
    area.scrollTop = area.scrollHeight - height
  }
  area.addEventListener("scroll", () => { if (area.scrollTop < 200) older() })
  area.addEventListener("click", (event) => {
    if (!event.target.closest("[data-before]")) return
    event.preventDefault()
    older()
  })

  document.addEventListener("visibilitychange", () => seen())
  for (const item of list.children) decorate(item)
  arrange()
  const aim = document.getElementById(location.hash.slice(1))
  aim ? aim.scrollIntoView({ block: "center" }) : toEnd()
  text.focus({ preventScroll: true })
}
