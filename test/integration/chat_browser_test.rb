# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/chat_browsing"

# Two people chat in two browsers, on two workers. With PELTON_PICTURES=FOLDER it makes the pictures of examples/chat's
# README.
class ChatBrowserTest < PeltonTest
  include ChatBrowsing

  self.deadline = 120

  def test_two_people
    browsing_chat do |ann|
      Chromium.open do |bob|
        sign_in(bob, 2)
        they_see_each_other(ann, bob)
        a_message_comes_once(ann, bob)
        it_is_changed(ann, bob)
        a_refusal_keeps_the_text(bob)
        what_is_new_is_marked(ann, bob)
        what_was_read_is_unmarked(ann, bob)
        what_changed_before_the_page_listened(ann, bob)
        offline_and_signed_out(bob)
        nothing_is_missed_over_a_restart(ann, bob)
        a_gap_hides_no_change(ann, bob)
        neighbours_have_one_name(ann)
        older_messages_come_while_scrolling(ann)
        it_fits_a_phone(bob)
        pictures(ann)

        assert_empty [*ann.complaints, *bob.complaints]
      end
    end
  end

  private

  def they_see_each_other(ann, bob)
    [ann, bob].each { |browser| sees(browser, "2 online") }
    write(bob, "I am wri")
    sees(ann, "Ben Brandt is typing")
  end

  def a_message_comes_once(ann, bob)
    send_message(bob, "ting <b>this</b> to @ada.adler")
    sees(ann, "I am writing <b>this</b> to @ada.adler")
    eventually("the sender's page shows it as sent") { bob.evaluate("!document.querySelector('li.waiting')") }

    assert_equal 1, count(ann, "I am writing")
    assert_equal 1, count(bob, "I am writing")
    assert ann.evaluate("document.querySelector('li.message:last-child .mention').classList.contains('me')")
  end

  def it_is_changed(ann, bob)
    id = bob.evaluate("document.querySelector('li.message:last-child').dataset.id")
    ann.evaluate("document.querySelector('#message_#{id} .meta a').focus()")
    ann.evaluate("document.querySelector('#message_#{id} .tools [data-emoji=\"🎉\"]').focus()")
    ann.evaluate("document.activeElement.click()")
    reactions =
      ->(browser) { browser.evaluate("document.querySelector('#message_#{id} .reactions')?.innerText.trim()") }
    eventually("the reaction") { reactions.call(bob) == "🎉 1" }
    bob.evaluate("document.querySelector('#message_#{id} .reactions [data-emoji]').click()")
    eventually("both reactions") { reactions.call(ann) == "🎉 2" }

    assert_equal "🎉", ann.evaluate("document.activeElement.dataset.emoji"), "the focus stays"
    submit(bob, "/rooms/1/messages/#{id}", _method: "patch", "message[text]": "This is another text")
    sees(ann, "This is another text")
    bob.evaluate("window.confirm = () => true; document.querySelector('#message_#{id} [data-delete]').click()")
    eventually("it is gone") { count(ann, "This is another text") == 0 }
  end

  def a_refusal_keeps_the_text(browser)
    field = "document.querySelector('#composer textarea')"
    browser.evaluate("#{field}.value = 'x'.repeat(10_001); document.querySelector('#composer').requestSubmit()")
    sees(browser, "is longer than 10000 characters")
    browser.evaluate("document.querySelector('.failed button').click()")

    assert_equal 10_001, browser.evaluate("#{field}.value.length")
    browser.evaluate("#{field}.value = ''")
  end

  def what_is_new_is_marked(ann, bob)
    ann.visit("#{@url}/rooms/2")
    sees(ann, "1 online")
    send_message(bob, "Is anybody there?")
    eventually("the room is marked") do
      ann.evaluate("document.querySelector('a[data-room=\"1\"]').classList.contains('unread')")
    end
    ann.visit("#{@url}/rooms/1")
    sees(ann, "Is anybody there?")
  end

  # The room is open in a page that nobody sees, and then in view again. Ann's second device is another page of the same
  # sign-in.
  def what_was_read_is_unmarked(ann, bob)
    mark = ->(browser, document) { browser.evaluate("#{document}.querySelector('a[data-room=\"1\"]').className") }
    device = "document.querySelector('#device').contentDocument"
    hidden =
      ->(value) { ann.evaluate("Object.defineProperty(document, 'hidden', {configurable: true, get: () => #{value}})") }
    ann.evaluate(
      "document.body.insertAdjacentHTML('beforeend', '<iframe id=\"device\" src=\"/rooms/2\" hidden></iframe>')"
    )
    eventually("the other page") do
      ann.evaluate("#{device}?.querySelector('#presence')?.textContent").to_s.include?("online")
    end
    hidden.call(true)
    send_message(bob, "while you are away")
    eventually("both marks") { [mark.call(ann, "document"), mark.call(ann, device)] == %w[unread unread] }
    hidden.call(false)
    ann.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    eventually("no marks") { [mark.call(ann, "document"), mark.call(ann, device)] == ["", ""] }
    ann.evaluate("document.querySelector('#device').remove()")
  end

  # A page that is served from before the changes: its subscription gets them.
  def what_changed_before_the_page_listened(ann, bob)
    ["Before the change", "Before the deletion"].each { |words| send_message(bob, words) && sees(bob, words) }
    eventually("sent") { bob.evaluate("!document.querySelector('li.waiting')") }
    first, second = bob.evaluate("[...document.querySelectorAll('li.message')].slice(-2).map(item => item.dataset.id)")
    ann.evaluate(
      "fetch('/rooms/1').then(response => response.text()).then(html => { window.before = html }).then(() => 1)"
    )
    submit(bob, "/rooms/1/messages/#{first}", _method: "patch", "message[text]": "After the change")
    submit(bob, "/rooms/1/messages/#{second}", _method: "delete")
    assert_includes ann.evaluate("before"), "Before the change"
    ann.evaluate(<<~JS)
      document.body.insertAdjacentHTML("beforeend", '<iframe id="late"></iframe>')
      window.late = document.querySelector("#late").contentDocument
      late.open()
      late.write(before)
      late.close()
    JS

    eventually("the changes") do
      %w[change deletion].map { |what| ann.evaluate("late.body.innerText").include?("Before the #{what}") } == [false,
        false]
    end
    assert_includes ann.evaluate("late.body.innerText"), "After the change"
    ann.evaluate("document.querySelector('#late').remove()")
  end

  def offline_and_signed_out(browser)
    browser.evaluate(<<~JS)
      window.Connection = WebSocket
      window.WebSocket = class { close() {} }
      Object.defineProperty(navigator, "onLine", {configurable: true, get: () => false})
      dispatchEvent(new Event("offline"))
    JS
    sees(browser, "You are offline")
    write(browser, "Half a sentence")
    browser.evaluate("window.WebSocket = Connection; delete navigator.onLine; dispatchEvent(new Event('online'))")
    eventually("online again") { !text(browser).include?("You are offline") }
    submit(browser, "/sign_in", _method: "delete")
    sees(browser, "You are signed out. Sign in")
    browser.evaluate("document.querySelector('#state a').click()")
    fill_in(browser, 2)
    sees(browser, "online")

    assert_equal ["/rooms/1", "Half a sentence"],
      browser.evaluate("[location.pathname, document.querySelector('#composer textarea').value]")
    browser.evaluate("document.querySelector('#composer textarea').value = ''")
  end

  # The workers are replaced while one of them writes.
  def nothing_is_missed_over_a_restart(ann, bob)
    sees(ann, "2 online")
    Process.kill("USR1", @master)
    15.times do |number|
      send_message(bob, "number #{number}!")
      sleep 0.2
    end
    [ann, bob].each do |browser|
      eventually("all have come", timeout: 30) do
        browser.evaluate("!document.querySelector('li.waiting')") && count(browser, "number 14!") == 1 &&
          count(browser, "number ") >= 15
      end
      numbers =
        browser.evaluate("[...document.querySelectorAll('li.message')].map(item => item.innerText.match(/number " \
          "(\\d+)!/)?.[1]).filter(Boolean)")

      assert_equal (0..14).map(&:to_s), numbers.sort_by(&:to_i)
      assert_equal browser.evaluate("[...document.querySelectorAll('li.message')].map(item => Number(item.dataset.id))")
        .sort,
        browser.evaluate("[...document.querySelectorAll('li.message')].map(item => Number(item.dataset.id))")
    end
  end

  # One page hears nothing, and the server has not kept what it asks for when it comes back.
  def a_gap_hides_no_change(ann, bob)
    sees(ann, "number 13!")
    ann.evaluate(<<~JS)
      const send = WebSocket.prototype.send
      WebSocket.prototype.send = function (text) {
        window.socket = this
        send.call(this, text.replace(/\\"epoch\\":\\"\\w+\\"/g, '\\"epoch\\":\\"another\\"').replace(/"epoch":"\w+"/g, '"epoch":"another"'))
      }
    JS
    eventually("a heartbeat", timeout: 30) { ann.evaluate("!!window.socket") }
    an_older_text_comes_too_late(ann, bob)
    ann.evaluate("window.socket.onmessage = null")
    ids = bob.evaluate("[...document.querySelectorAll('li.message')].slice(-2).map(item => item.dataset.id)")
    submit(bob, "/rooms/1/messages/#{ids.first}", _method: "patch", "message[text]": "Changed meanwhile")
    submit(bob, "/rooms/1/messages/#{ids.last}", _method: "delete")
    sees(bob, "Changed meanwhile")
    refute_includes text(ann), "Changed meanwhile"
    ann.evaluate("window.socket.close()")

    sees(ann, "Changed meanwhile")
    assert_equal [0, 0],
      [ann, bob].map { |browser| browser.evaluate("document.querySelectorAll('#message_#{ids.last}').length") }
  end

  # Two changes at once may be announced in either order: here the first one comes once more.
  def an_older_text_comes_too_late(ann, bob)
    ann.evaluate(<<~JS)
      window.heard = []
      window.hear = socket.onmessage
      socket.onmessage = (event) => { heard.push(event.data); hear(event) }
    JS
    id = bob.evaluate("[...document.querySelectorAll('li.message')].at(-3).dataset.id")
    ["An older text", "A newer text"].each do |words|
      submit(bob, "/rooms/1/messages/#{id}", _method: "patch", "message[text]": words)
      sees(ann, words)
    end
    ann.evaluate("hear({data: heard.find(data => data.includes('An older text'))})")

    assert_includes text(ann), "A newer text"
  end

  # The tests' messages are of today, the others of October.
  def neighbours_have_one_name(browser)
    first, *others = browser.evaluate(<<~JS)
      [...document.querySelectorAll("li.message[data-id]")].filter((item) => new Date(item.querySelector("time").dateTime) > new Date() - 3600000).map((item) => item.className)
    JS

    space = browser.evaluate(<<~JS)
      (() => {
        const area = document.querySelector("#messages")
        return area.scrollHeight - area.scrollTop - (area.querySelector("ol").getBoundingClientRect().bottom - area.getBoundingClientRect().top)
      })()
    JS

    assert_operator space, :<, 20, "hidden names take no space below the messages"
    assert_includes first, "day"
    assert_includes others.first, "follows"
    assert_empty others.grep(/day/)
  end

  def older_messages_come_while_scrolling(browser)
    before = browser.evaluate("document.querySelectorAll('li.message').length")
    browser.evaluate("document.querySelector('#messages').scrollTop = 0")
    eventually("older messages") { browser.evaluate("document.querySelectorAll('li.message').length") >= before + 20 }

    assert_operator browser.evaluate("document.querySelector('#messages').scrollTop"), :>, 0,
      "the page stays where it was"
  end

  def it_fits_a_phone(browser)
    browser.look(width: 360, height: 640)
    %w[/rooms/1 /rooms /search?q=build /directs/new /account/edit].each do |path|
      browser.visit("#{@url}#{path}")

      assert_operator browser.evaluate("document.documentElement.scrollWidth"), :<=, 360, path
    end
    browser.visit("#{@url}/rooms/2")
    sees(browser, "1 online")
    picture(browser, "phone")
  end

  def pictures(browser)
    return unless ENV["PELTON_PICTURES"]
    [["light", "/rooms/2", {width: 1280, height: 720}, "online"],
      ["writing", "/rooms/2", {width: 900, height: 560}, "online"],
      ["dark", "/search?q=deploy", {width: 900, height: 560, dark: true}, "message"]].each do |name, path, look, words|
      browser.look(**look)
      browser.visit("#{@url}#{path}")
      sees(browser, words)
      a_message_is_being_written(browser) if name == "writing"
      picture(browser, name)
    end
  end

  def a_message_is_being_written(browser)
    browser.evaluate(<<~JS)
      Promise.resolve().then(() => {
        const canvas = document.createElement("canvas")
        const pen = canvas.getContext("2d")
        ;["#1b5fc1", "#1a7f37", "#b3261e"].forEach((color, index) => { pen.fillStyle = color; pen.fillRect(30 + index * 90, 130 - index * 45, 60, 200) })
        return new Promise((next) => canvas.toBlob((blob) => next(new File([blob], "tickets.png", { type: "image/png" }))))
      }).then((file) => {
        const data = new DataTransfer()
        data.items.add(file)
        document.querySelector("#composer textarea").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }))
      })
    JS
    write(browser, "Here are the tickets of this week, @g")
    eventually("a preview and a name") do
      browser.evaluate("document.querySelectorAll('#composer canvas, #composer [role=option]').length") == 2
    end
  end

  def picture(browser, name)
    ENV["PELTON_PICTURES"] && browser.picture(File.join(ENV["PELTON_PICTURES"], "#{name}.png"))
  end
end
