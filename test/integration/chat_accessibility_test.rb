# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/chat_browsing"
require_relative "../support/accessibility"

# The chat for everybody: with a screen reader, by the keyboard alone, on a phone, without scripts, and with a network
# that comes and goes.
class ChatAccessibilityTest < PeltonTest
  include Accessibility
  include ChatBrowsing

  self.deadline = 240

  PAGES =
    %w[/rooms/1 /rooms /rooms/new /rooms/1/edit /rooms/1/memberships /directs/new /search?q=build /account/edit
      /password/edit /devices /admin/users /admin/rooms /admin/bots].freeze
  OUTSIDE = %w[/sign_in/new /sign_up/new /password_resets/new].freeze
  PHONE = {width: 360, height: 640}.freeze
  LOOKS = [{}, {dark: true}, PHONE].freeze

  def test_no_page_has_faults
    browsing_chat do |ann|
      sees(ann, "1 online")
      message = ann.evaluate("document.querySelector('li.message').dataset.id")
      LOOKS.each do |look|
        ann.look(**look)
        [*PAGES, "/rooms/1/messages/#{message}"].each do |path|
          ann.visit("#{@url}#{path}")
          sees(ann, "online") if path == "/rooms/1"

          assert_empty faults(ann), "#{path} #{look}"
        end
        a_busy_room(ann, look)
      end
      submit(ann, "/sign_in", _method: "delete")
      LOOKS.product(OUTSIDE) do |look, path|
        ann.look(**look)
        ann.visit("#{@url}#{path}")

        assert_empty faults(ann), "#{path} #{look}"
      end
      a_form_with_errors(ann)
    end
  end

  def test_the_keyboard_alone
    browsing_chat do |ann|
      sees(ann, "1 online")
      ["/rooms/1", "/rooms/1/edit", "/rooms/1/memberships", "/admin/users", "/account/edit"].each do |path|
        ann.visit("#{@url}#{path}")
        sees(ann, "online") if path == "/rooms/1"
        stops = tab_stops(ann)

        assert_empty stops["missed"], "#{path}: all is reached"
        assert_empty stops["unmarked"], "#{path}: the focus is shown"
      end
      the_skip_link(ann)
      the_panel_of_members(ann)
    end
  end

  def test_on_a_phone
    browsing_chat do |ann|
      ann.look(**PHONE)
      ann.visit("#{@url}/rooms/1")
      sees(ann, "1 online")
      top, height =
        ann.evaluate("(({top, height}) => [top, height])(document.querySelector('#messages').getBoundingClientRect())")
      assert_operator top, :<=, 110, "the messages begin near the top"
      assert_operator height, :>=, 400, "and have most of the page"
      assert_equal "none", ann.evaluate("getComputedStyle(document.querySelector('#sidebar')).display"),
        "the rooms are behind a link"

      ann.evaluate("document.querySelector('.bar a').click()")
      eventually("the rooms") { ann.evaluate("document.querySelector('#sidebar a[data-room]').checkVisibility()") }
      assert_empty faults(ann), "the rooms"
      small =
        ann.evaluate("[...document.querySelectorAll('#sidebar a, #sidebar button')].filter(one => " \
          "one.checkVisibility() && one.getBoundingClientRect().height < 44).map(one => one.outerHTML)")
      assert_empty small, "fingers hit all of them"
      ann.evaluate("document.querySelector('.close').click()")
      eventually("the page again") do
        ann.evaluate("!document.querySelector('#sidebar a[data-room]').checkVisibility()")
      end
      ann.evaluate("document.querySelector('#members_link').click()")
      eventually("the members") do
        ann.evaluate("document.querySelectorAll('#members_panel [data-member]')[1].checkVisibility()")
      end
      assert_empty faults(ann), "the members"
    end
  end

  def test_without_scripts
    serving_page do |browser|
      browser.without_scripts
      browser.visit("#{@url}/sign_in/new")
      browser.evaluate("document.querySelector('[type=email]').value = 'user1@example.com'; " \
        "document.querySelector('[type=password]').value = '#{PASSWORD}'")
      click(browser, "main form button", "Direct messages")
      browser.visit("#{@url}/rooms/1")
      browser.evaluate("document.querySelector('#composer textarea').value = 'plain words'")
      click(browser, "#composer button", "plain words")
      id = browser.evaluate("[...document.querySelectorAll('li.message')].at(-1).dataset.id")
      assert browser.evaluate("(({top, bottom}) => top >= 0 && bottom <= " \
        "innerHeight)(document.querySelector('#message_#{id}').getBoundingClientRect())"),
        "one's new message is in view"
      click(browser, "#message_#{id} .meta a", "Back to the room")
      browser.evaluate("document.querySelector('textarea').value = 'other words'")
      click(browser, "form[action$='#{id}'] button", "(edited)")
      click(browser, "[aria-label='React with 🎉']", "🎉 1")
      click(browser, "main a[href='/rooms/1']", "other words")
      click(browser, "#members_link", "@ben.brandt")
      browser.evaluate("document.querySelector('[type=search]').value = 'other words'; " \
        "document.querySelector('[role=search]').requestSubmit()")
      sees(browser, "1 message")
      sees(browser, "Ada Adler in General")
      browser.visit("#{@url}/rooms/1/messages/#{id}")
      click(browser, "form:has([value=delete]):not(.sidebar form) button", "Members")
      refute_includes text(browser), "other words"
      browser.look(**PHONE)
      browser.evaluate("document.querySelector('.bar a').click()")
      sees(browser, "Browse rooms")
    end
  end

  # What was written is sent, what came is shown, and the page says why nothing comes.
  def test_offline_and_back
    browsing_chat do |ann|
      Chromium.open do |bob|
        sign_in(bob, 2)
        sees(ann, "2 online")
        ann.offline(true)
        sees(ann, "You are offline")
        send_message(ann, "written offline")
        send_message(bob, "sent meanwhile")
        ann.evaluate("document.querySelector('li.message[data-id] .meta a').focus(); document.querySelector('.tools " \
          "[data-emoji]').click()")
        sees(ann, "This did not reach the server")
        refute_includes text(bob), "written offline"
        ann.offline(false)

        [ann, bob].each do |browser|
          ["written offline", "sent meanwhile"].each { |words| eventually(words) { count(browser, words) == 1 } }
        end
        eventually("nothing is said any more") { !text(ann).include?("You are offline") }
        what_was_not_sent_outlives_the_page(ann, bob)
      end
    end
  end

  private

  # An editor, names, files and a message that was refused.
  def a_busy_room(browser, look)
    browser.visit("#{@url}/rooms/1")
    sees(browser, "online")
    send_message(browser, "x" * 20)
    eventually("sent") { browser.evaluate("!document.querySelector('li.waiting')") }
    browser.evaluate("[...document.querySelectorAll('li.own[data-id]')].at(-1).querySelector('[data-edit]').click()")
    eventually("the editor") { browser.evaluate("!!document.querySelector('.editor')") }
    browser.evaluate(<<~JS)
      (() => {
        const data = new DataTransfer()
        for (const [size, type] of [[100, "text/plain"], [11 << 20, "video/mp4"]]) data.items.add(new File([new Uint8Array(size)], "a_long_name_of_a_file_without_spaces", {type}))
        document.querySelector("main").dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}))
        document.querySelector("#composer textarea").value = "y".repeat(10001)
        document.querySelector("#composer").requestSubmit()
      })()
    JS
    sees(browser, "is longer than 10000 characters")
    write(browser, "@")
    eventually("names") { browser.evaluate("document.querySelectorAll('#composer [role=option]').length") == 8 }

    assert_empty faults(browser), "a busy room #{look}"
    browser.evaluate("sessionStorage.clear()")
  end

  def a_form_with_errors(browser)
    browser.visit("#{@url}/sign_up/new")
    browser.evaluate(<<~JS)
      for (const [name, value] of [["name", "Ada  Adler"], ["email", "ada@example.com"], ["password", "a long sentence"]]) document.querySelector(`#user_${name}`).value = value
      document.querySelector("form").requestSubmit()
    JS
    sees(browser, "is taken")

    assert_empty faults(browser), "a form with errors"
    assert_match(/is taken/,
      browser.evaluate(
        "document.getElementById(document.querySelector('[aria-invalid=true]').getAttribute('aria-describedby')).textContent"
      ))
  end

  def the_skip_link(browser)
    browser.visit("#{@url}/rooms/1")
    sees(browser, "online")
    browser.evaluate("document.querySelector(#{CONTROLS.to_json}).focus()")
    assert_equal ["Skip to the content", true],
      browser.evaluate("[document.activeElement.textContent, document.activeElement.getBoundingClientRect().left > 0]"),
      "it is the first, and in view"
    browser.press("Enter")
    browser.press("Tab")
    assert_equal "Skip to the message field", browser.evaluate("document.activeElement.textContent")
    browser.press("Enter")

    eventually("the field has the focus") { browser.evaluate("document.activeElement.id") == "message_text" }
  end

  def the_panel_of_members(browser)
    browser.look(width: 1000, height: 700)
    browser.evaluate("document.querySelector('#members_link').focus()")
    browser.press("Enter")
    assert_equal ["true", true],
      browser.evaluate("[document.querySelector('#members_link').getAttribute('aria-expanded'), " \
        "!!document.activeElement.closest('#members_panel')]"),
      "Enter opens it"
    browser.press("Escape")

    assert_equal ["false", "members_link"],
      browser.evaluate(
        "[document.querySelector('#members_link').getAttribute('aria-expanded'), document.activeElement.id]"
      ),
      "Escape leads back"
  end

  def what_was_not_sent_outlives_the_page(ann, bob)
    ann.evaluate("XMLHttpRequest.prototype.send = function () { setTimeout(() => this.onerror(), 0) }")
    send_message(ann, "over a reload")
    ann.visit("#{@url}/rooms/1")

    [ann, bob].each { |browser| eventually("it was sent") { count(browser, "over a reload") == 1 } }
    eventually("and is kept no longer") { unsent(ann) == [] }
    submit(ann, "/rooms/1/messages", "message[text]": "without an answer", "message[client_id]": "lost-answer")
    ann.evaluate("sessionStorage.setItem(Object.keys(sessionStorage).find(key => key.startsWith('unsent')), " \
      "JSON.stringify([{id: 'lost-answer', words: 'without an answer'}]))")
    ann.visit("#{@url}/rooms/1")
    eventually("what had arrived is sent again") { unsent(ann) == [] }

    assert_equal [1, 1], [ann, bob].map { |browser| count(browser, "without an answer") }, "and shown once"
  end

  def unsent(browser)
    JSON.parse(browser.evaluate("sessionStorage[Object.keys(sessionStorage).find(key => key.startsWith('unsent'))]"))
  end

  def serving_page
    serving_chat([12, 6, 400], ->(_) { %w[--bind tcp://127.0.0.1:0] }) do |_, folder|
      @url = File.read("#{folder}/log")[%r{http://127.0.0.1:\d+}]
      Chromium.open { |browser| yield browser }
    end
  end

  # Leads to another page.
  def click(browser, selector, words)
    browser.evaluate("window.left = true; document.querySelector(#{selector.to_json}).click()")
    eventually("another page") { loaded?(browser) }
    sees(browser, words)
  end

  def loaded?(browser)
    browser.evaluate("!window.left && document.readyState === 'complete'")
  rescue Chromium::Failed
    false # it is just being left
  end
end
