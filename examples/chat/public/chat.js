// What all pages have: the sidebar's marks. A room's page has more: see room.js.
import { Cable } from "/cable/client.js"
import { openRoom } from "./room.js"

const sidebar = document.querySelector("#sidebar")
if (sidebar) {
  const cable = new Cable()
  cable.addEventListener("state", ({ detail }) => showState(detail))
  const messages = document.querySelector("#messages")
  const room = messages && openRoom(cable, messages)
  watchSidebar(cable, sidebar, Number(messages?.dataset.room))
  addEventListener("keydown", (event) => switchRoom(event))
}

function showState(state) {
  const words = { offline: "You are offline. New messages come when the connection is back.", "signed out": "You are signed out. " }
  const line = document.querySelector("#state")
  line.textContent = words[state] ?? ""
  if (state !== "signed out") return
  const link = document.createElement("a")
  link.href = location.pathname + location.search // leads to the sign-in page, and back
  link.textContent = "Sign in"
  line.append(link)
}

function watchSidebar(cable, sidebar, open) {
  const link = (id) => sidebar.querySelector(`a[data-room="${id}"]`)
  const mark = (id, unread) => {
    link(id)?.classList.toggle("unread", unread)
    link(id)?.querySelector(".mark")?.remove()
    if (unread) link(id)?.insertAdjacentHTML("beforeend", '<span class="mark"> (new)</span>')
  }
  const showOpen = () => {
    if (!open) return
    link(open)?.setAttribute("aria-current", "page")
    link(open)?.scrollIntoView({ block: "nearest", inline: "center" }) // on a phone the rooms are in one line
    mark(open, false)
  }
  const newest = new Map()
  let subscription
  const subscribe = () => {
    subscription = cable.subscribe("SidebarChannel", {}, {
      received: (message) => {
        if (message.type === "sidebar") reload()
        else if (message.type === "unread") for (const { dataset: { room } } of sidebar.querySelectorAll("a[data-room]")) mark(room, message.rooms.includes(Number(room)) && Number(room) !== open)
        else if (message.type === "news") {
          newest.set(message.room, message.message)
          if (message.room !== open || document.hidden) mark(message.room, true)
        } else if (message.type === "read" && message.message >= (newest.get(message.room) ?? 0)) mark(message.room, false)
      },
      missed: () => load()
    })
  }
  const load = async () => {
    const response = await fetch("/sidebar")
    if (!response.ok) return
    sidebar.innerHTML = await response.text()
    showOpen()
  }
  // The channel streams from the rooms that there were.
  const reload = async () => {
    await load()
    subscription.unsubscribe()
    subscribe()
  }
  showOpen()
  subscribe()
}

// Alt and an arrow: the room above or below.
function switchRoom(event) {
  if (!event.altKey || !["ArrowUp", "ArrowDown"].includes(event.key)) return
  const links = [...document.querySelectorAll("#sidebar a[data-room]")]
  const here = links.findIndex((link) => link.getAttribute("aria-current"))
  const next = links[here + (event.key === "ArrowUp" ? -1 : 1)]
  if (!next) return
  event.preventDefault()
  location.assign(next.href)
}
