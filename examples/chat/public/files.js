// The files of the next message: chosen, pasted or dropped, shown before they are sent, and refused with a reason.
import { complain } from "./complaint.js"

const size = (bytes) => bytes < 1048576 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 1048576).toFixed(1)} MB`

export function chosenFiles(form, target) {
  const input = form.querySelector("[type=file]")
  const largest = Number(form.dataset.largest)
  const list = document.createElement("ul")
  list.className = "chosen"
  list.setAttribute("aria-label", "Files of this message")
  form.prepend(list)
  input.multiple = true // each gets a message of its own
  const chosen = new Map() // item => file

  function add(files) {
    const refused = []
    for (const file of files) {
      if (file.size <= largest) show(file)
      else refused.push(`${file.name} is too large: ${size(file.size)}, ${size(largest)} at most.`)
    }
    complain(form, refused.join(" "))
  }

  function show(file) {
    const item = document.createElement("li")
    const name = document.createElement("span")
    name.textContent = `${file.name} (${size(file.size)})`
    const button = document.createElement("button")
    button.type = "button"
    button.textContent = "×"
    button.setAttribute("aria-label", `Remove ${file.name}`)
    button.addEventListener("click", () => {
      chosen.delete(item)
      item.remove()
      form.querySelector("textarea").focus()
    })
    item.append(name, button)
    list.append(item)
    chosen.set(item, file)
    if (file.type.startsWith("image/")) preview(file, item)
  }

  // A small one: the picture itself may have many megabytes.
  async function preview(file, item) {
    const image = await createImageBitmap(file, { resizeHeight: 96, resizeQuality: "medium" }).catch(() => null)
    if (!image) return item.querySelector("span").append(" – no preview: the picture cannot be read")
    const canvas = document.createElement("canvas")
    Object.assign(canvas, { width: image.width, height: image.height })
    canvas.setAttribute("aria-hidden", "true")
    canvas.getContext("2d").drawImage(image, 0, 0)
    item.prepend(canvas)
  }

  input.addEventListener("change", () => {
    add(input.files)
    input.value = ""
  })
  form.addEventListener("paste", (event) => {
    const { files, types } = event.clipboardData
    if (!files.length || types.includes("text/plain")) return // a word processor adds a picture of its text
    event.preventDefault()
    add(files)
  })
  const files = (event) => event.dataTransfer?.types.includes("Files")
  target.addEventListener("dragover", (event) => {
    if (!files(event)) return
    event.preventDefault()
    target.classList.add("dropping")
  })
  target.addEventListener("dragleave", (event) => {
    if (!target.contains(event.relatedTarget)) target.classList.remove("dropping")
  })
  target.addEventListener("drop", (event) => {
    if (!files(event)) return
    event.preventDefault()
    target.classList.remove("dropping")
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.())
    const folders = entries.filter((entry) => entry?.isDirectory).map((entry) => entry.name)
    add([...event.dataTransfer.files].filter((file) => !folders.includes(file.name)))
    if (folders.length) complain(form, `${folders.join(", ")}: a folder cannot be sent. Choose its files.`)
    form.querySelector("textarea").focus()
  })

  return {
    any: () => chosen.size > 0,
    // Takes them away: they are on their way.
    take: () => {
      const taken = [...chosen.values()]
      chosen.clear()
      list.replaceChildren()
      return taken
    },
    add
  }
}
