// The field for a new message, which is sent without loading the page. A draft outlives the page, and signing in again.
import { chosenFiles } from "./files.js"
import { completeNames } from "./name_completion.js"
import { outbox } from "./outbox.js"

const quiet = 2500 // milliseconds between two signs of typing

// `names()` are those for completion; `typing()` is called now and then, `editLast()` for the arrow up in an empty field.
export function openComposer(form, messages, { names, typing, editLast }) {
  const field = form.querySelector("textarea")
  const draft = `draft:${document.body.dataset.user}:${form.getAttribute("action")}`
  const files = chosenFiles(form, document.querySelector("main"))
  const letters = outbox(form, messages, (words, file) => {
    write(words)
    if (file) files.add([file])
  })
  const store = () => field.value ? sessionStorage.setItem(draft, field.value) : sessionStorage.removeItem(draft)

  function write(words) {
    field.value = [words, field.value].filter(Boolean).join("\n")
    store()
    field.focus()
  }

  let typed = 0
  field.value ||= sessionStorage.getItem(draft) ?? ""
  field.addEventListener("input", () => {
    store()
    if (Date.now() - typed < quiet) return
    typed = Date.now()
    typing()
  })
  completeNames(field, names)
  field.addEventListener("keydown", (event) => {
    if (event.isComposing || event.defaultPrevented || event.shiftKey || event.altKey) return
    if (event.key === "Enter") form.requestSubmit()
    else if (event.key !== "ArrowUp" || field.value || files.any() || !editLast()) return
    event.preventDefault()
  })
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    const words = field.value
    const [first, ...others] = files.take()
    if (!words.trim() && !first) return
    letters.send(words, first)
    for (const file of others) letters.send("", file)
    field.value = ""
    store()
    field.focus()
  })
  addEventListener("beforeunload", (event) => { if (files.any()) event.preventDefault() })
  field.focus({ preventScroll: true })
  return { write, focus: () => field.focus(), retry: letters.retry }
}
