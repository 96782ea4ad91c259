// Messages on their way, in their order. What has no answer is sent again, with the same id, so it is posted once. What was
// not sent yet outlives the page, but for files.
const retries = 6 // attempts to send a message, with doubling delays from half a second on
const newId = () => crypto.randomUUID?.() || `${Date.now()}-${Math.random().toString(36).slice(2)}`

// `list` is the page's, `writeAgain(words, file)` takes back what was refused.
export function outbox(form, { list, toEnd, fetchMissed }, writeAgain) {
  const key = `unsent:${document.body.dataset.user}:${form.getAttribute("action")}`
  const kept = () => JSON.parse(sessionStorage.getItem(key) ?? "[]")
  const keep = (messages) => sessionStorage.setItem(key, JSON.stringify(messages))
  const files = new Set() // ids of messages that a reload would lose
  const failed = new Map() // item => sends it again
  let sent = Promise.resolve()

  function send(words, file, id = newId()) {
    const item = waiting(id, words || file.name)
    if (file) files.add(id)
    else keep([...kept().filter((one) => one.id !== id), { id, words }])
    sent = sent.then(() => post({ id, words, file, item }, 0))
  }

  function waiting(id, words) {
    const item = document.createElement("li")
    item.className = "message own waiting"
    item.dataset.client = id
    const body = document.createElement("div")
    body.className = "text"
    body.textContent = words
    item.append(body)
    list.append(item)
    toEnd()
    return item
  }

  async function post(message, attempt) {
    const answer = await upload(message).catch(() => ({ status: 0 }))
    if (answer.status === 201) return arrived(message, answer.body?.id)
    if (answer.status && answer.status < 500 && answer.status !== 429) {
      const { error, detail } = answer.body ?? {}
      const problem = error || detail || (answer.status === 413 ? "The file is too large." : "It was not sent.")
      return fail(message, problem, "Write again", () => takeBack(message))
    }
    if (attempt >= retries) return fail(message, "It was not sent.", "Try again", () => post(message, 0))
    await new Promise((resolve) => setTimeout(resolve, 500 * 2 ** attempt))
    return post(message, attempt + 1)
  }

  // fetch tells nothing of an upload's progress.
  function upload({ id, words, file, item }) {
    const data = new FormData()
    data.set("message[text]", words)
    data.set("message[client_id]", id)
    if (file) data.set("file", file)
    const bar = file && progress(item, file)
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest()
      request.open("POST", form.action)
      request.setRequestHeader("accept", "application/json")
      request.responseType = "json"
      if (bar) request.upload.onprogress = (event) => { bar.value = event.loaded / event.total }
      request.onload = () => resolve({ status: request.status, body: request.response })
      request.onerror = request.onabort = reject
      request.send(data)
    })
  }

  function progress(item, file) {
    item.querySelector("progress")?.remove()
    const bar = document.createElement("progress")
    bar.value = 0
    bar.setAttribute("aria-label", `Sending ${file.name}`)
    item.append(bar)
    return bar
  }

  function forget({ id }) {
    files.delete(id)
    keep(kept().filter((one) => one.id !== id))
  }

  // Its HTML is there, if an earlier attempt had arrived; comes over the cable; or is fetched if that is away.
  function arrived(message, id) {
    forget(message)
    if (document.getElementById(`message_${id}`)) return message.item.remove()
    setTimeout(() => { if (message.item.isConnected) message.item.remove(), fetchMissed() }, 3000)
  }

  function fail({ item }, problem, label, again) {
    item.classList.add("failed")
    item.querySelector("progress")?.remove()
    const note = document.createElement("p")
    note.setAttribute("role", "alert")
    note.textContent = `${problem} `
    const button = document.createElement("button")
    button.textContent = label
    const act = () => {
      failed.delete(item)
      note.remove()
      item.classList.remove("failed")
      again()
    }
    button.addEventListener("click", act)
    if (label === "Try again") failed.set(item, act)
    note.append(button)
    item.append(note)
    toEnd()
  }

  function takeBack(message) {
    forget(message)
    message.item.remove()
    writeAgain(message.words, message.file)
  }

  addEventListener("beforeunload", (event) => { if (files.size) event.preventDefault() })
  for (const { id, words } of kept()) send(words, undefined, id)
  return { send, retry: () => failed.forEach((again) => again()) }
}
