// Edits a message in its place: Enter saves, Escape leaves. Without scripts the link leads to the message's page.
import { complain } from "./complaint.js"
import { completeNames } from "./name_completion.js"

const json = { accept: "application/json" }

// `names()` are those for completion, `saved(answer)` gets the message's new HTML, and `left()` is called at the end.
export async function editMessage(item, { names, saved, left }) {
  const open = item.querySelector(".editor textarea")
  if (open) return open.focus()
  const path = item.querySelector(".meta a").getAttribute("href")
  const response = await fetch(path, { headers: json }).catch(() => null)
  if (!response?.ok) return complain(item, "This message cannot be edited now: try again.")
  complain(item, "")
  const { text } = await response.json()
  const form = document.createElement("form")
  form.className = "editor"
  form.innerHTML = `<textarea aria-label="Edit the message" maxlength="10000"></textarea>
    <p><button>Save</button> <button type="button" data-leave>Cancel</button> <small>Enter saves, Escape leaves.</small></p>`
  const field = form.querySelector("textarea")
  field.value = text
  field.rows = Math.min(10, text.split("\n").length + 1)
  item.querySelector(".text").after(form)
  field.focus()
  item.scrollIntoView({ block: "nearest" })

  const leave = () => { form.remove(), left() }
  form.querySelector("[data-leave]").addEventListener("click", leave)
  completeNames(field, names)
  field.addEventListener("keydown", (event) => {
    if (event.isComposing || event.defaultPrevented) return
    if (event.key === "Escape") leave()
    else if (event.key === "Enter" && !event.shiftKey) event.preventDefault(), form.requestSubmit()
  })
  form.addEventListener("submit", async (event) => {
    event.preventDefault()
    if (field.value === text) return leave()
    const changes = new URLSearchParams({ "message[text]": field.value })
    const answer = await fetch(path, { method: "PATCH", headers: json, body: changes }).catch(() => null)
    if (!answer) return complain(form, "It was not saved: the server cannot be reached. Try again.")
    const body = await answer.json().catch(() => ({}))
    if (!answer.ok) return complain(form, body.error || body.detail || "It was not saved.")
    leave()
    saved(body)
  })
}
