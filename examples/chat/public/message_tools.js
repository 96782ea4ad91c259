// What can be done to a message: reactions, editing, deletion. Shown when the pointer or the focus is on it. Its page has
// the same, without scripts.
import { editMessage } from "./message_editor.js"
import { complain } from "./complaint.js"

const pathOf = (item) => item.querySelector(".meta a").getAttribute("href")

export function addTools(item, emoji) {
  if (item.querySelector(".tools")) return
  const bar = document.createElement("p")
  bar.className = "tools"
  const reactions = emoji.map((one) => `<button data-emoji="${one}" aria-label="React with ${one}">${one}</button>`)
  const changes = `<a href="${pathOf(item)}" data-edit>Edit</a> <button data-delete>Delete</button>`
  bar.innerHTML = reactions.join("") + (item.classList.contains("own") ? changes : "")
  item.append(bar)
}

// `options` are those of `editMessage`.
export function handleTools(list, options) {
  async function act(target) {
    const tool = target.closest("[data-emoji], [data-delete]")
    if (!tool) return
    const item = tool.closest("li.message")
    const { emoji } = tool.dataset
    if (emoji) await ask(item, `${pathOf(item)}/reactions`, { method: "POST", body: new URLSearchParams({ emoji }) })
    else if (confirm("Delete this message?")) await ask(item, pathOf(item), { method: "DELETE" })
  }
  list.addEventListener("click", (event) => {
    const link = event.target.closest("[data-edit]")
    if (!link) return act(event.target)
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    editMessage(link.closest("li.message"), options)
  })
  list.addEventListener("keydown", (event) => {
    if (!["Enter", " "].includes(event.key) || !event.target.matches(".reactions *")) return
    event.preventDefault()
    act(event.target)
  })
}

// The answer is a redirection to a page; what has changed comes by the channel.
async function ask(item, path, options) {
  const response = await fetch(path, { ...options, redirect: "manual" }).catch(() => null)
  if (response?.ok || response?.type === "opaqueredirect") complain(item, "")
  else complain(item, response ? "This was refused." : "This did not reach the server: try again.")
}
