# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/chat_browsing"

# Writing in the chat's rooms: changing a message in its place, names, files, notifications.
class ChatComposingTest < PeltonTest
  include ChatBrowsing

  self.deadline = 120

  PICTURE =
    "Uint8Array.from(atob('#{[File.binread("#{CHAT}/test/fixtures/picture.png")].pack("m0")}'), one => " \
    "one.charCodeAt(0))"
  FIELD = "document.querySelector('#composer textarea')"
  OWN = "[...document.querySelectorAll('li.own[data-id]')].at(-1)"

  def test_two_people
    browsing_chat do |ann|
      Chromium.open do |bob|
        sign_in(bob, 2)
        a_message_is_changed_in_its_place(ann, bob)
        what_happens_meanwhile_keeps_the_text(ann, bob)
        members_are_listed(ann, bob)
        names_are_completed(ann, bob)
        files_are_pasted_and_dropped(ann, bob)
        files_are_refused_with_a_reason(ann)
        broken_images_say_so(ann, bob)
        notifications(ann, bob)

        assert_empty [*ann.complaints, *bob.complaints]
      end
    end
  end

  private

  def sent(browser) = eventually("sent") { browser.evaluate("!document.querySelector('li.waiting')") }

  def focus(browser, selector) = browser.evaluate("document.querySelector(#{selector.to_json}).focus()")

  # By the keyboard alone.
  def a_message_is_changed_in_its_place(ann, bob)
    send_message(ann, "The first **words** `x`")
    sees(bob, "The first **words**")
    sent(ann)
    focus(ann, "#composer textarea")
    ann.press("ArrowUp")
    eventually("the editor") { ann.evaluate("document.activeElement.closest('.editor') !== null") }
    assert_equal "The first **words** `x`", ann.evaluate("document.activeElement.value"), "as it was typed"
    ann.type("!")
    ann.press("Escape")
    assert_equal [false, true],
      ann.evaluate("[!!document.querySelector('.editor'), document.activeElement === #{FIELD}]"), "Escape leaves"
    assert_includes text(bob), "The first **words**"

    ann.press("ArrowUp")
    eventually("the editor again") { ann.evaluate("document.activeElement.closest('.editor') !== null") }
    ann.evaluate("document.activeElement.select()")
    ann.type("Other words")
    ann.press("Enter")
    [ann, bob].each { |browser| sees(browser, "Other words") }
    assert_includes bob.evaluate("[...document.querySelectorAll('li.message')].at(-1).innerText"), "(edited)"
    assert_equal [false, "/rooms/1"], ann.evaluate("[!!document.querySelector('.editor'), location.pathname]")
  end

  # A reaction of another, and the deletion of the message that is being edited.
  def what_happens_meanwhile_keeps_the_text(ann, bob)
    ann.evaluate("#{OWN}.querySelector('[data-edit]').click()")
    eventually("the editor") { ann.evaluate("document.activeElement.closest('.editor') !== null") }
    ann.type(", half of them")
    id = ann.evaluate("#{OWN}.dataset.id")
    submit(bob, "/rooms/1/messages/#{id}/reactions", emoji: "🎉")
    eventually("the reaction") { ann.evaluate("!!document.querySelector('#message_#{id} .reactions')") }
    assert_equal "Other words, half of them", ann.evaluate("document.activeElement.value"),
      "the editor keeps text and focus"
    submit(ann, "/rooms/1/messages/#{id}", _method: "delete")
    eventually("it is gone") { ann.evaluate("!document.querySelector('#message_#{id}')") }

    assert_equal "Other words, half of them", ann.evaluate("#{FIELD}.value"), "the text is in the composer"
    ann.evaluate("#{FIELD}.value = ''")
  end

  def members_are_listed(ann, bob)
    online = ->(browser) do
      browser.evaluate("[...document.querySelectorAll('#members_panel .online')].map(item => item.dataset.name)")
    end
    eventually("both are online") { online.call(ann) == ["Ada Adler", "Ben Brandt"] }
    assert_equal 12, ann.evaluate("document.querySelectorAll('#members_panel [data-member]').length")
    bob.visit("#{@url}/rooms/2")
    eventually("one has left") { online.call(ann) == ["Ada Adler"] }
    bob.visit("#{@url}/rooms/1")
    eventually("and is back") { online.call(ann) == ["Ada Adler", "Ben Brandt"] }
    submit(ann, "/rooms/1/memberships/12", _method: "delete")
    eventually("somebody was removed") do
      bob.evaluate("document.querySelectorAll('#members_panel [data-member]').length") == 11
    end
  end

  def names_are_completed(ann, bob)
    focus(ann, "#composer textarea")
    ann.type("Hello @b")
    offered =
      -> { ann.evaluate("[...document.querySelectorAll('#composer [role=option]')].map(item => item.textContent)") }
    eventually("a name") { offered.call == ["Ben Brandt @ben.brandt"] }
    ann.press("Enter")
    assert_equal "Hello @ben.brandt ", ann.evaluate("#{FIELD}.value"), "Enter takes the name"
    ann.type("and @")
    eventually("all names") { offered.call.size == 8 }
    second = offered.call[1]
    ann.press("ArrowDown")
    assert_equal second,
      ann.evaluate("document.getElementById(#{FIELD}.getAttribute('aria-activedescendant')).textContent")
    ann.press("Escape")
    assert_empty offered.call, "Escape leaves"
    ann.press("Enter")
    sees(bob, "Hello @ben.brandt and @")
    assert bob.evaluate("[...document.querySelectorAll('li.message')].at(-1).querySelector('.mention.me') !== null"),
      "it is highlighted"
    sent(ann)
  end

  # @param files [Array<Array(String, String, String)>] name, type, and a script's expression of what it has
  def give(browser, event, *files)
    browser.evaluate(<<~JS)
      (() => {
        const data = new DataTransfer()
        #{files.map { |name, type, content| "data.items.add(new File([#{content}], '#{name}', {type: '#{type}'}))" }.join("\n")}
        if ('#{event}' === 'paste') #{FIELD}.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}))
        else document.querySelector('main').dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}))
      })()
    JS
  end

  def chosen(browser)
    browser.evaluate("[...document.querySelectorAll('#composer .chosen li span')].map(item => item.innerText)")
  end

  def files_are_pasted_and_dropped(ann, bob)
    give(ann, "paste", ["picture.png", "image/png", PICTURE])
    give(ann, "drop", ["notes.txt", "text/plain", "'some notes'"])
    assert_equal ["picture.png", "notes.txt"], chosen(ann).map { |line| line[/\S+/] }
    eventually("a preview") { ann.evaluate("!!document.querySelector('#composer .chosen canvas')") }
    ann.evaluate("window.progress = 0; new MutationObserver(() => { window.progress += " \
      "document.querySelectorAll('progress').length }).observe(document.querySelector('#messages ol'), {childList: " \
      "true, subtree: true})")
    send_message(ann, "Two files")
    eventually("both files") do
      bob.evaluate("[...document.querySelectorAll('.attachment a')].slice(-2).map(link => " \
        "link.querySelector('img')?.alt || link.innerText)") == ["picture.png", "notes.txt"]
    end
    sent(ann)
    assert_empty chosen(ann)
    assert_operator ann.evaluate("progress"), :>, 0, "a progress was shown"
  end

  def files_are_refused_with_a_reason(ann)
    give(ann, "drop", ["film.mov", "video/quicktime", "new Uint8Array(11 << 20)"])
    sees(ann, "film.mov is too large: 11.0 MB, 10.0 MB at most.")
    assert_empty chosen(ann)
    assert_empty ann.dialogs
    give(ann, "drop", ["notes.txt", "text/plain", "'some notes'"])
    ann.visit("#{@url}/rooms/1")
    assert_equal %w[beforeunload], ann.dialogs, "the browser asks before a chosen file is lost"
    sees(ann, "2 online")
  end

  def broken_images_say_so(ann, bob)
    give(ann, "paste", ["broken.png", "image/png",
      "new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 1, 2, 3])"])
    sees(ann, "no preview: the picture cannot be read")
    ann.evaluate("document.querySelector('#composer').requestSubmit()")
    sees(bob, "no preview: the image is broken, or has too many pixels")
    sent(ann)
  end

  # The browser's own are replaced: a headless one shows none.
  def notifications(ann, bob)
    ann.prepare(<<~JS)
      window.shown = []
      window.asked = 0
      window.Notification = class {
        static permission = "default"
        static async requestPermission() { asked++; return Notification.permission = "granted" }
        constructor(title, options) { shown.push([title, options.body]) }
        addEventListener() {}
      }
    JS
    ann.visit("#{@url}/rooms/2")
    sees(ann, "1 online")
    assert_equal 0, ann.evaluate("asked"), "nothing is asked without a click"
    ann.evaluate("document.querySelector('.notify').click()")
    eventually("asked") { ann.evaluate("asked") == 1 && ann.evaluate("!document.querySelector('.notify')") }
    send_message(bob, "@ada.adler while you look")
    eventually("the title counts") { ann.evaluate("document.title") == "(1) Random" }
    assert_empty ann.evaluate("shown"), "the page is in view"

    ann.evaluate("Object.defineProperty(document, 'hidden', {configurable: true, get: () => true})")
    send_message(bob, "nobody is meant")
    send_message(bob, "@ada.adler are you there?")
    submit(bob, "/directs", user_id: 1)
    direct =
      bob.evaluate("fetch('/sidebar').then(response => response.text()).then(html => " \
        "html.match(/rooms\\/(\\d+)\"[^>]*>Ada Adler/)[1])")
    submit(bob, "/rooms/#{direct}/messages", "message[text]": "only for you")
    eventually("two notifications") { ann.evaluate("shown").size == 2 }
    assert_equal [["Ben Brandt in General", "@ada.adler are you there?"], ["Ben Brandt", "only for you"]],
      ann.evaluate("shown")
  end
end
