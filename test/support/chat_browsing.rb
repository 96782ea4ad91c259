# frozen_string_literal: true

require_relative "chat_program"
require_relative "chromium"

# People who use examples/chat in browsers, on two workers. For PeltonTests.
module ChatBrowsing
  include ChatProgram

  def setup
    skip "no Chromium" unless Chromium.path
    super
  end

  private

  # @yieldparam browser [Chromium] in which the first user, Ada Adler, has opened the first room
  def browsing_chat
    serving_chat([12, 6, 400], ->(_) { %w[--workers 2 --bind tcp://127.0.0.1:0] }) do |pid, folder|
      @master = pid
      @url = File.read("#{folder}/log")[%r{http://127.0.0.1:\d+}]
      Chromium.open do |browser|
        sign_in(browser, 1)
        yield browser
      end
    end
  end

  def sign_in(browser, number)
    browser.visit("#{@url}/sign_in/new")
    fill_in(browser, number)
    browser.visit("#{@url}/rooms/1")
  end

  def fill_in(browser, number)
    eventually("the sign-in page") { filled_in?(browser, number) || signed_in?(browser) }
    sees(browser, "Direct messages")
  end

  def signed_in?(browser)
    words = text(browser)
    words.include?("Direct messages") && !words.include?("You are signed out")
  end

  # In one step, as a page that is just being left may still answer. The form is sent once, though the answer may be
  # lost with the page: a second sign-in would not lead back to where the first one does.
  def filled_in?(browser, number)
    browser.evaluate(<<~JS)
      (() => {
        const [email, password] = ["email", "password"].map((type) => document.querySelector(`main [type=${type}]`))
        if (!email || !password || document.readyState !== "complete") return false
        if (password.form.dataset.sent) return true
        password.form.dataset.sent = "yes"
        email.value = "user#{number}@example.com"
        password.value = "#{PASSWORD}"
        password.form.requestSubmit()
        return true
      })()
    JS
  rescue Chromium::Failed
    false
  end

  def sees(browser, words)
    eventually("the page shows #{words}") { text(browser).include?(words) }
  rescue Minitest::Assertion => error
    raise error.class,
      "#{error.message}: #{browser.evaluate("location.href")} shows #{text(browser)[-1500..] || text(browser)}"
  end

  # A page that is just being left has no text.
  def text(browser)
    browser.evaluate("document.body.innerText").to_s.tap do |text|
      return text.gsub("DIRECT MESSAGES", "Direct messages")
    end
  rescue Chromium::Failed
    ""
  end

  def write(browser, words)
    browser.evaluate("document.querySelector('#composer textarea').focus()")
    browser.type(words)
  end

  def send_message(browser, words)
    write(browser, words)
    browser.evaluate("document.querySelector('#composer').requestSubmit()")
  end

  # A form of another page, sent from this one.
  def submit(browser, path, **fields)
    body = URI.encode_www_form(fields)
    browser.evaluate(
      "fetch('#{path}', {method: 'POST', body: new URLSearchParams('#{body}')}).then(response => response.status)"
    )
  end

  def count(browser, words)
    browser.evaluate(
      "[...document.querySelectorAll('li.message')].filter(item => item.innerText.includes('#{words}')).length"
    )
  end
end
