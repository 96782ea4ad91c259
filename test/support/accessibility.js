// What is wrong with the page for people who use a keyboard, a screen reader or large text: one line for each fault.
(() => {
  const faults = []
  const name = (element) => `${element.tagName.toLowerCase()}${element.id && `#${element.id}`}${[...element.classList].map((one) => `.${one}`).join("")} "${(element.innerText ?? "").trim().slice(0, 30)}"`
  const shown = (element) => element.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true })
  const all = (selector, root = document) => [...root.querySelectorAll(selector)]
  const fault = (rule, element) => faults.push(`${rule}: ${element.tagName ? name(element) : element}`)

  if (!document.documentElement.lang) fault("no language", document.documentElement)
  if (!document.title.trim()) fault("no title", document.documentElement)

  // ---- structure ----
  const ids = all("[id]").map((element) => element.id)
  for (const id of new Set(ids.filter((one, index) => ids.indexOf(one) !== index))) fault("id twice", id)
  if (all("main").length !== 1) fault("not one main", document.body)
  if (all("h1").length !== 1) fault("not one h1", document.body)
  const levels = all("h1, h2, h3, h4").filter(shown).map((heading) => Number(heading.tagName[1]))
  if (levels.slice(levels.indexOf(1)).some((level, index, rest) => index && level > rest[index - 1] + 1)) fault("heading level skipped", levels.join(" "))
  const roles = { nav: "navigation", aside: "complementary", search: "search", form: "form" }
  const landmarks = all("nav, aside, [role=search], [role=region], section[aria-label]:not([role])").filter(shown)
  const labels = landmarks.map((element) => `${element.getAttribute("role") ?? roles[element.tagName.toLowerCase()] ?? "region"} ${element.getAttribute("aria-label") ?? ""}`)
  for (const label of new Set(labels.filter((one, index) => labels.indexOf(one) !== index))) fault("two landmarks alike", label)
  if (all("[role=search]").filter(shown).length > 1) fault("two searches", document.body)
  for (const list of all("ul, ol").filter((one) => !one.hasAttribute("role"))) {
    for (const child of list.children) if (child.tagName !== "LI") fault("no item in a list", child)
  }

  // ---- names, roles and references ----
  for (const image of all("img")) if (!image.hasAttribute("alt")) fault("no alt", image)
  for (const attribute of ["aria-controls", "aria-labelledby", "aria-describedby", "aria-activedescendant", "for"]) {
    for (const element of all(`[${attribute}]`)) if (!document.getElementById(element.getAttribute(attribute))) fault(`${attribute} leads nowhere`, element)
  }
  const interactive = "a[href], button, input:not([type=hidden]), select, textarea, [tabindex='0'], [role=button]"
  for (const element of all("[aria-hidden=true]")) if (element.matches(interactive) || element.querySelector(interactive)) fault("hidden, with the focus", element)
  for (const element of all("[tabindex]")) if (element.tabIndex > 0) fault("tabindex", element)
  for (const element of all(interactive)) if (element.parentElement.closest("a[href], button, [role=button]")) fault("one control in another", element)
  for (const element of all("[role=listbox]")) for (const child of element.children) if (child.getAttribute("role") !== "option") fault("no option", child)
  for (const element of all("*").filter((one) => shown(one) && one.scrollHeight > one.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(one).overflowY))) {
    if (!element.matches(`${interactive}, [tabindex]`) && !element.querySelector(interactive)) fault("scrolls, but not by keys", element)
  }

  // ---- contrast ----
  const parse = (color) => (color.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number)
  const over = ([r, g, b, a = 1], below) => [r, g, b].map((value, index) => value * a + below[index] * (1 - a))
  const behind = (element) => {
    if (!element) return parse(getComputedStyle(document.documentElement).colorScheme.startsWith("dark") ? "rgb(18, 18, 18)" : "rgb(255, 255, 255)")
    return over(parse(getComputedStyle(element).backgroundColor), behind(element.parentElement))
  }
  const light = (color) => color.map((value) => value / 255).map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0)
  const contrast = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b)
    return (high + 0.05) / (low + 0.05)
  }
  const judge = (element, style) => {
    const below = behind(element)
    const ratio = contrast(over(parse(style.color), below), below)
    const size = parseFloat(style.fontSize)
    const needed = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5
    if (ratio < needed) fault(`contrast ${ratio.toFixed(2)}`, element)
  }
  for (const element of all("body *").filter(shown)) {
    const style = getComputedStyle(element)
    if (style.clipPath !== "none" || parseFloat(style.fontSize) === 0) continue
    const words = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && /[\p{L}\p{N}]/u.test(node.data))
    if (words || element.matches("input:not([type=file], [type=checkbox])") && element.value) judge(element, style)
    if (element.placeholder && !element.value) judge(element, getComputedStyle(element, "::placeholder"))
  }

  // ---- size ----
  if (document.documentElement.scrollWidth > innerWidth) fault("scrolls sideways", document.documentElement)
  for (const element of all("button, input:not([type=hidden]), select, textarea, [role=button]").filter(shown)) {
    const { width, height } = (element.closest("label") ?? element).getBoundingClientRect()
    if (element.type !== "checkbox" && Math.min(width, height) < 24) fault(`small (${Math.round(width)} x ${Math.round(height)})`, element)
  }
  return [...new Set(faults)]
})()
