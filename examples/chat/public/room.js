// Adds new messages to the room that is open.
import { Cable } from "./cable.js"

const list = document.querySelector("#messages")
if (list) {
  new Cable().subscribe("RoomChannel", { id: list.dataset.room }, {
    received: ({ html }) => list.insertAdjacentHTML("beforeend", html),
    missed: () => location.reload()
  })
}
