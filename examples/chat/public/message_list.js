// The messages of a room's page: each once, in the order of their ids, with lines between days; older ones while scrolling.
const days = new Intl.DateTimeFormat([], { weekday: "long", day: "numeric", month: "long", year: "numeric" })
const clock = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit" })
const together = 300000 // milliseconds within which messages of one user have one name above them

const element = (html) => {
  const template = document.createElement("template")
  template.innerHTML = html.trim()
  return template.content.firstElementChild
}

// Calls `decorated(item)` for each message that it shows, and `changed()` when it has shown one.
export function messageList(area, { decorated, changed }) {
  const list = area.querySelector("ol")
  const { user: me, handle } = document.body.dataset
  const find = (id) => document.getElementById(`message_${id}`)
  const last = () => Math.max(0, ...[...list.children].map((item) => Number(item.dataset.id) || 0))
  const own = () => [...list.querySelectorAll(".own[data-id]")]
  const atEnd = () => area.scrollHeight - area.scrollTop - area.clientHeight < 120
  const toEnd = () => { area.scrollTop = area.scrollHeight }

  // Its sender's page shows it already. An older version than the shown one comes too late. What is being written in it stays.
  function show(html, clientId, version = 0) {
    const message = element(html)
    const shown = find(message.dataset.id)
    if (shown && version < Number(shown.dataset.version ?? list.dataset.version)) return
    message.dataset.version = version
    const here = shown || (clientId && list.querySelector(`[data-client="${CSS.escape(clientId)}"]`))
    const focused = here?.contains(document.activeElement) && document.activeElement
    const editor = here?.querySelector(".editor")
    const follow = atEnd() || message.dataset.user === me
    if (here) here.replaceWith(message)
    else {
      const next = [...list.children].find((item) => Number(item.dataset.id) > Number(message.dataset.id) || item.dataset.client)
      list.insertBefore(message, next || null)
    }
    decorate(message)
    arrange()
    if (editor) message.querySelector(".text").after(editor)
    if (focused) editor?.contains(focused) ? focused.focus({ preventScroll: true }) : focusAgain(message, focused)
    if (follow) toEnd()
    changed()
  }

  const update = ({ id, html, client_id: clientId, version }) => find(id) && show(html, clientId, version)

  // What had the focus may be gone, as a reaction that was taken back. The tools are visible only while the message has the focus.
  function focusAgain(message, before) {
    const alike = (one) => one.dataset.emoji === before.dataset.emoji && one.href === before.href
    const link = message.querySelector(".meta a")
    link.focus({ preventScroll: true })
    const all = [...message.querySelectorAll("a, button, [role=button]")]
    const nearby = (one) => alike(one) && one.parentElement.className === before.parentElement.className
    const again = all.find(nearby) || all.find(alike) || link
    again.focus({ preventScroll: true })
  }

  function decorate(item) {
    item.classList.toggle("own", item.dataset.user === me)
    for (const chip of item.querySelectorAll(".reactions [data-emoji]")) {
      chip.classList.toggle("mine", chip.dataset.users.split(" ").includes(me))
      chip.tabIndex = 0
      chip.setAttribute("role", "button")
    }
    for (const time of item.querySelectorAll("time")) time.textContent = clock.format(new Date(time.dateTime))
    for (const one of item.querySelectorAll(".mention")) one.classList.toggle("me", one.dataset.handle === handle)
    if (item.dataset.id) decorated(item)
  }

  // A line between days, and one name above what a user writes within five minutes.
  function arrange() {
    let before
    for (const item of list.querySelectorAll("[data-id]")) {
      const at = new Date(item.querySelector("time").dateTime)
      const { user, day } = Object.assign(item.dataset, { day: item.dataset.day ?? days.format(at) })
      item.classList.toggle("day", day !== before?.day)
      item.classList.toggle("follows", day === before?.day && user === before.user && at - before.at < together)
      before = { user, day, at }
    }
  }

  // Returns what was being written in it.
  function remove(id) {
    const item = find(id)
    const words = item?.querySelector(".editor textarea")?.value
    item?.remove()
    arrange()
    return words
  }

  // Messages of this room, and the link to older ones.
  async function load(query) {
    const response = await fetch(`/rooms/${area.dataset.room}/messages${query}`).catch(() => null)
    if (!response?.ok) return {}
    const template = document.createElement("template")
    template.innerHTML = await response.text()
    const parts = (selector) => template.content.querySelectorAll(selector)
    return { items: [...parts("li.message")], link: parts(".older")[0], version: parts("ol")[0]?.dataset.version }
  }

  const fetchMissed = async () => (await load(`?after=${last()}`)).items?.forEach((item) => show(item.outerHTML))

  // Edits and deletions may be missing, too: the list begins again with the newest messages. One that is being edited stays.
  async function refresh() {
    const { items, link, version } = await load("")
    if (!items) return
    const editors = [...list.querySelectorAll(".editor")].map((editor) => ({ editor, id: editor.closest("li").dataset.id }))
    list.dataset.version = version
    area.querySelector(".older")?.remove()
    area.prepend(...[link].filter(Boolean))
    list.replaceChildren(...items, ...list.querySelectorAll("[data-client]"))
    items.forEach(decorate)
    for (const { editor, id } of editors) find(id)?.querySelector(".text").after(editor)
    arrange()
    toEnd()
    changed()
  }

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
  area.addEventListener("scroll", () => {
    following = atEnd()
    if (area.scrollTop < 200) older()
  })
  area.addEventListener("click", (event) => {
    if (!event.target.closest("[data-before]")) return
    event.preventDefault()
    older()
  })

  for (const item of list.children) decorate(item)
  arrange()
  const aim = document.getElementById(location.hash.slice(1))
  let following = !list.contains(aim)
  following ? toEnd() : aim.scrollIntoView({ block: "center" })
  new ResizeObserver(() => following && toEnd()).observe(area) // as when the composer shows files, or a phone its keyboard
  return { list, last, own, show, update, remove, refresh, fetchMissed, toEnd }
}
