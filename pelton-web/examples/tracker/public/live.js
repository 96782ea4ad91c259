// public/live.js
const comments = document.querySelector("[data-live]")
if (comments) {
  const source = new EventSource(comments.dataset.live)
  source.onmessage = (event) => comments.insertAdjacentHTML("beforeend", event.data)
  addEventListener("pagehide", () => source.close())
}
