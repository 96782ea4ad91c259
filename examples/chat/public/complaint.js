// Says in a message, or in a form, what has gone wrong; nothing to say removes it.
export function complain(place, words) {
  place.querySelector(":scope > .error")?.remove()
  if (!words) return
  const line = document.createElement("p")
  line.className = "error"
  line.setAttribute("role", "alert")
  line.textContent = words
  place.append(line)
}
