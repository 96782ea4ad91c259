// Notifications of the system, for a mention or a direct message while nobody sees the page. The browser asks for them
// after a click alone.
const possible = "Notification" in window

export function offerNotifications(place) {
  if (!possible || Notification.permission !== "default") return
  const button = document.createElement("button")
  button.className = "notify"
  button.textContent = "Turn on notifications"
  button.addEventListener("click", async () => {
    await Notification.requestPermission()
    button.remove()
  })
  place.append(button)
}

// Several open pages show one.
export function notify({ room, message, title, text }) {
  if (!possible || !document.hidden || Notification.permission !== "granted") return
  const notification = new Notification(title, { body: text, tag: `message ${message}`, icon: "/icon.svg" })
  notification.addEventListener("click", () => {
    focus()
    notification.close()
    if (location.pathname !== `/rooms/${room}`) location.assign(`/rooms/${room}`)
  })
}
