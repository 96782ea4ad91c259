// The list of rooms: marks of what is unread, also in the page's title.
import { notify, offerNotifications } from "./notifications.js"

export function watchSidebar(cable, sidebar, open) {
  const title = document.title
  const link = (id) => sidebar.querySelector(`a[data-room="${id}"]`)
  const mark = (id, unread) => {
    link(id)?.classList.toggle("unread", unread)
    link(id)?.querySelector(".mark")?.remove()
    if (unread) link(id)?.insertAdjacentHTML("beforeend", '<span class="mark"> (new)</span>')
    const count = sidebar.querySelectorAll("a.unread").length
    document.title = count ? `(${count}) ${title}` : title
  }
  const shown = () => {
    offerNotifications(sidebar)
    link(open)?.setAttribute("aria-current", "page")
    link(open)?.scrollIntoView({ block: "nearest" })
    mark(open, false)
  }
  const load = async () => {
    const response = await fetch("/sidebar").catch(() => null)
    if (!response?.ok) return
    sidebar.innerHTML = await response.text()
    shown()
  }

  const newest = new Map()
  const received = {
    sidebar: () => reload(),
    unread: ({ rooms }) => {
      const all = [...sidebar.querySelectorAll("a[data-room]")].map((one) => Number(one.dataset.room))
      for (const room of all) mark(room, rooms.includes(room) && room !== open)
    },
    news: ({ room, message }) => {
      newest.set(room, message)
      if (room !== open || document.hidden) mark(room, true)
    },
    read: ({ room, message }) => message >= (newest.get(room) ?? 0) && mark(room, false),
    mention: notify
  }
  let subscription
  const subscribe = () => {
    const heard = (message) => received[message.type]?.(message)
    subscription = cable.subscribe("SidebarChannel", {}, { received: heard, missed: load })
  }
  // The channel streams from the rooms that there were.
  const reload = async () => {
    await load()
    subscription.unsubscribe()
    subscribe()
  }
  shown()
  subscribe()
}
