// Who belongs to the room, and who is here now: a panel beside the messages, or above them on a small screen. Without
// scripts the link leads to a page with the same list.
const wide = matchMedia("(min-width: 75rem)")

export function watchMembers(link) {
  const present = new Set()
  const panel = document.createElement("aside")
  panel.id = "members_panel"
  panel.setAttribute("aria-label", "Members")
  link.setAttribute("aria-controls", panel.id)
  document.body.append(panel)

  const members = () => [...panel.querySelectorAll("[data-member]")]
  const open = (yes) => {
    panel.hidden = !yes
    link.setAttribute("aria-expanded", yes)
  }

  // Those who are here come first.
  function mark() {
    for (const item of members()) {
      const here = present.has(item.dataset.member)
      item.classList.toggle("online", here)
      item.querySelector(".presence").textContent = here ? "online" : ""
    }
    const place = (item) => Number(item.dataset.number) + (item.classList.contains("online") ? 0 : members().length)
    const sorted = members().sort((one, other) => place(one) - place(other))
    panel.querySelector("ul")?.append(...sorted)
    link.querySelector("#presence").textContent = present.size ? `, ${present.size} online` : ""
  }

  async function load() {
    const response = await fetch(link.href).catch(() => null)
    if (!response?.ok) return
    const template = document.createElement("template")
    template.innerHTML = await response.text()
    const heading = document.createElement("h2")
    heading.textContent = "Members"
    panel.replaceChildren(heading, template.content.querySelector("#members"))
    members().forEach((item, number) => { item.dataset.number = number })
    mark()
  }

  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    open(panel.hidden)
    if (!panel.hidden) panel.querySelector("a, button")?.focus()
  })
  panel.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return
    open(false)
    link.focus()
  })
  wide.addEventListener("change", () => open(wide.matches))
  open(wide.matches)

  return {
    load,
    names: () => members().map(({ dataset: { name, handle } }) => ({ name, handle })),
    presence: ({ type, id, records }) => {
      if (type === "info") {
        present.clear()
        for (const one of records) present.add(String(one.id))
      } else if (type === "join") present.add(String(id))
      else if (type === "leave") present.delete(String(id))
      mark()
    }
  }
}
