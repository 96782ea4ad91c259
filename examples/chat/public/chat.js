// What all pages have: the list of rooms, and a line that says when the connection is lost. A room's page has more.
import { Cable } from "/cable/client.js"
import { openRoom } from "./room.js"
import { watchSidebar } from "./sidebar.js"

const sidebar = document.querySelector("#sidebar")
if (sidebar) {
  const cable = new Cable()
  cable.addEventListener("state", ({ detail }) => showState(detail))
  const messages = document.querySelector("#messages")
  if (messages) openRoom(cable, messages)
  watchSidebar(cable, sidebar, Number(messages?.dataset.room))
  addEventListener("keydown", (event) => switchRoom(event))
}

function showState(state) {
  const words = {
    offline: "You are offline. New messages come when the connection is back, and yours are sent then.",
    "signed out": "You are signed out. "
  }
  const line = document.querySelector("#state")
  line.textContent = words[state] ?? ""
  if (state !== "signed out") return
  const link = document.createElement("a")
  link.href = location.pathname + location.search // leads to the sign-in page, and back
  link.textContent = "Sign in"
  line.append(link)
}

// Alt and an arrow: the room above or below. Escape: from the rooms, which cover a small screen, back to the page.
function switchRoom(event) {
  if (event.key === "Escape" && location.hash === "#sidebar") return location.replace("#content")
  if (!event.altKey || !["ArrowUp", "ArrowDown"].includes(event.key)) return
  const links = [...document.querySelectorAll("#sidebar a[data-room]")]
  const here = links.findIndex((link) => link.getAttribute("aria-current"))
  const next = links[here + (event.key === "ArrowUp" ? -1 : 1)]
  if (!next) return
  event.preventDefault()
  location.assign(next.href)
}
