// Completes @names in a field: the arrows choose, Enter or Tab takes, Escape leaves.
const most = 8 // names that are offered
const unfinished = /(?:^|[^\w@.])@([\p{L}\p{N}.]*)$/u

let fields = 0

// `names()` returns members: { name, handle }.
export function completeNames(field, names) {
  const menu = document.createElement("ul")
  menu.id = `names_${++fields}`
  menu.className = "names"
  menu.hidden = true
  menu.setAttribute("role", "listbox")
  menu.setAttribute("aria-label", "Names")
  field.before(menu)
  field.setAttribute("aria-autocomplete", "list")
  field.setAttribute("aria-controls", menu.id)

  const begun = () => field.value.slice(0, field.selectionStart).match(unfinished)?.[1]
  const close = () => {
    menu.hidden = true
    menu.replaceChildren()
    field.removeAttribute("aria-activedescendant")
  }

  // Whose handle, or one of whose names, begins with it.
  function offer() {
    const word = begun()?.toLowerCase()
    if (word === undefined) return close()
    const fits = ({ name, handle }) => [handle, ...name.toLowerCase().split(" ")].some((part) => part.startsWith(word))
    const found = names().filter(fits).slice(0, most)
    if (!found.length) return close()
    menu.replaceChildren(...found.map(({ name, handle }, number) => {
      const item = document.createElement("li")
      item.id = `${menu.id}_${number}`
      item.dataset.handle = handle
      item.textContent = `${name} @${handle}`
      item.setAttribute("role", "option")
      return item
    }))
    menu.hidden = false
    choose(0)
  }

  function choose(number) {
    const item = menu.children[(number + menu.children.length) % menu.children.length]
    for (const one of menu.children) one.setAttribute("aria-selected", one === item)
    field.setAttribute("aria-activedescendant", item.id)
    item.scrollIntoView({ block: "nearest" })
  }

  function take(item) {
    const start = field.selectionStart - begun().length
    field.setRangeText(`${item.dataset.handle} `, start, field.selectionStart, "end")
    close()
    field.dispatchEvent(new Event("input", { bubbles: true }))
    field.focus()
  }

  field.addEventListener("input", offer)
  field.addEventListener("blur", close)
  field.addEventListener("keydown", (event) => {
    if (menu.hidden || event.isComposing) return
    const chosen = menu.querySelector("[aria-selected=true]")
    const number = [...menu.children].indexOf(chosen)
    if (event.key === "ArrowDown") choose(number + 1)
    else if (event.key === "ArrowUp") choose(number - 1)
    else if (event.key === "Enter" || event.key === "Tab") take(chosen)
    else if (event.key === "Escape") close()
    else return
    event.preventDefault()
  })
  menu.addEventListener("pointerdown", (event) => {
    event.preventDefault() // the field keeps the focus
    const item = event.target.closest("li")
    if (item) take(item)
  })
}
