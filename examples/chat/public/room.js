// A room's page: its parts, and the channel that keeps them up to date.
import { openComposer } from "./composer.js"
import { watchMembers } from "./members.js"
import { editMessage } from "./message_editor.js"
import { messageList } from "./message_list.js"
import { addTools, handleTools } from "./message_tools.js"
import { typingSigns } from "./typing_signs.js"

export function openRoom(cable, area) {
  const me = document.body.dataset.user
  const live = area.dataset.live === "true" // or the page of older messages
  const emoji = area.dataset.emoji.split(" ")
  const members = watchMembers(document.querySelector("#members_link"))
  const typing = typingSigns(document.querySelector("#typing"))
  const messages = messageList(area, { decorated: (item) => addTools(item, emoji), changed: () => seen() })

  // The server says so to the user's other devices.
  let reported = 0
  function seen() {
    if (document.hidden || !live || messages.last() <= reported) return
    if (channel.perform("read", { id: messages.last() })) reported = messages.last()
  }

  function removed(id) {
    const words = messages.remove(id)
    if (words) composer.write(words) // it was being edited
  }

  const channel = cable.subscribe("RoomChannel", { id: Number(area.dataset.room) }, {
    position: document.querySelector("main").dataset.position,
    connected: () => {
      seen()
      members.load()
      composer.retry()
    },
    missed: () => live && messages.refresh(),
    presence: members.presence,
    received: (message) => {
      if (message.type === "message" && live) messages.show(message.html, message.client_id)
      else if (message.type === "edit") messages.update(message)
      else if (message.type === "delete") removed(message.id)
      else if (message.type === "typing" && String(message.user) !== me) typing(message.name)
      else if (message.type === "members") members.load()
      else if (message.type === "gone") location.assign("/")
    }
  })

  const editing = {
    names: members.names,
    saved: messages.update,
    left: () => composer.focus()
  }
  const composer = openComposer(document.querySelector("#composer"), messages, {
    names: members.names,
    typing: () => channel.perform("typing"),
    editLast: () => {
      const item = messages.own().at(-1)
      if (item) editMessage(item, editing)
      return item
    }
  })
  handleTools(messages.list, editing)
  document.addEventListener("visibilitychange", seen)
}
