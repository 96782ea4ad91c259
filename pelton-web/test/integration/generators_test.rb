# frozen_string_literal: true

require "test_helper"
require "pg"
require "trilogy"
require_relative "../../../test/support/chromium"
require_relative "../../../test/support/databases"
require "support/cable_client"
require_relative "../support/generated_application"

# A new application in which everything is generated: its tests pass, its files are in standard's style, it serves, and
# people sign in.
class WebGeneratorsIntegrationTest < PeltonTest
  self.deadline = 180

  include CableClient
  include GeneratedApplication
  include Databases

  PASSWORD = "correct horse battery"

  def test_everything_that_can_be_generated
    generate("shop")
    generate_everything
    assert_style

    assert_match(/\D0 failures, 0 errors, 0 skips/, lines_of("bundle", "exec", "rake"))
    assert_includes lines_of("bundle", "exec", "pelton", "db", "migrate"), "7 migrated"
    assert_includes lines_of("bundle", "exec", "pelton", "db", "rollback", "7"), "7 taken back"
    lines_of("bundle", "exec", "pelton", "db", "migrate")

    assert_match(/^GET +\/ .*messages#index/, lines_of("bundle", "exec", "pelton", "web", "routes"))
    assert_match(/\[\]/, lines_of("bundle", "exec", "pelton", "web", "console", stdin_data: "p Message.all\n"))
    serving(RACK_ENV: "production", SECRET_KEY_BASE: "s" * 64,
      BASE_URL: "https://shop.example", DATABASE_URL: "sqlite://#{root}/db/development.sqlite3") do |url|
      sign_up_and_in(url)
      two_at_once(url)
      many_with_one_cookie(url)
      digests_are_made_outside_of_transactions
      Pelton.run { see_a_message_come(url) }

      assert_includes Pelton::HTTP.get(url).body, "<b>Ann</b>: &lt;hi&gt;"
      assert_includes Pelton::HTTP.get("#{url}icon.svg").body, "<svg"
      browse(url) if Chromium.path
    end
  end

  def test_on_postgresql = use_server("postgres", "postgres://postgres@127.0.0.1:#{postgres}/shop")

  def test_on_mariadb = use_server("mysql", "mysql://root@127.0.0.1:#{mariadb}/shop")

  def test_without_a_database
    generate("api", database: "none")
    lines_of("bundle", "install", "--local")
    pelton_generate("controller", "posts", "index", "show", "new", "create")
    pelton_generate("channel", "room", "speak")
    lines_of("bundle", "install", "--local")
    assert_style

    assert_match(/8 runs, \d+ assertions, 0 failures, 0 errors, 0 skips/, lines_of("bundle", "exec", "rake"))
    serving(RACK_ENV: "production", SECRET_KEY_BASE: "s" * 64) do |url|
      assert_equal 200, Browser.new(url).get("/posts")
    end
  end

  private

  # `pelton db` makes the database that the tests have, too.
  def use_server(kind, address)
    generate("shop", database: kind)
    generate_everything
    variables = environment.merge("DATABASE_URL" => address, "TEST_DATABASE_URL" => address)
    stub(:environment, variables) do
      lines_of("bundle", "exec", "pelton", "db", "create")

      assert_includes lines_of("bundle", "exec", "pelton", "db", "migrate"), "7 migrated"
      assert_match(/\D0 failures, 0 errors, 0 skips/, lines_of("bundle", "exec", "rake"))
      assert_includes lines_of("bundle", "exec", "pelton", "db", "rollback", "7"), "7 taken back"
    end
  end

  def pelton_generate(*arguments) = lines_of("bundle", "exec", "pelton", "generate", *arguments)

  def generate_everything
    lines_of("bundle", "install", "--local")
    pelton_generate("model", "project", "name:string!", "settings:json", "key:token")
    pelton_generate("model", "issue", "title:string{80}", "body:text", "project:references", "due_on:date",
      "price:decimal{8,2}", "done:boolean", "count:bigint", "seen_at:time")
    pelton_generate("model", "admin/visit", "page:string:index")
    pelton_generate("migration", "add_slug_to_projects", "slug:string:uniq", "owner_id:integer:index")
    pelton_generate("controller", "projects", "index", "show", "new", "edit", "create", "update", "destroy", "search")
    pelton_generate("controller", "admin/reports", "index", "destroy")
    pelton_generate("controller", "about", "index", "team")
    pelton_generate("channel", "admin/room", "speak", "mark")
    pelton_generate("authentication")
    lines_of("bundle", "install", "--local")
  end

  def sign_up_and_in(url)
    ann = Browser.new(url)

    assert_equal 303, ann.post("/sign_up", {"user[email]" => "ann@example.com", "user[password]" => PASSWORD})
    ann.follow

    assert_includes ann.response.body, "ann@example.com"
    assert_equal 303, ann.post("/sign_in", method: "delete")
    assert_equal 302, ann.get("/devices")
    assert_equal 422, sign_in(ann, password: "wrong")
    assert_equal 303, sign_in(ann)
    assert_equal 200, ann.follow
    assert_includes ann.response.body, "(this device)"
    phone = Browser.new(url)
    sign_in(phone)
    ann.post("/devices/others", method: "delete")

    assert_equal [200, 302], [ann, phone].map { |browser| browser.get("/devices") }
    assert_equal 403,
      sign_in(Browser.new(url), headers: {"origin" => "https://evil.example", "sec-fetch-site" => "cross-site"})
  end

  def sign_in(browser, password: PASSWORD, **options)
    browser.post("/sign_in", {"sign_in[email]" => "ann@example.com", "sign_in[password]" => password}, **options)
  end

  # Two who want the same address at the same time: for one it is taken.
  def two_at_once(url)
    statuses = Pelton.run do
      Pelton.map([1, 2]) do
        Browser.new(url).post("/sign_up", {"user[email]" => "bob@example.com", "user[password]" => PASSWORD})
      end
    end

    assert_equal [303, 422], statuses.sort
  end

  # A page asks for many things at once, when the token of its device is due: one answer brings the new one, and the old
  # one is good for the others.
  def many_with_one_cookie(url)
    ann = Browser.new(url)
    sign_in(ann)
    lines_of("bundle", "exec", "pelton", "web", "console",
      stdin_data: "SignIn.dataset.update(rotated_at: Time.now - SignIn::ROTATION - 1)\n")
    browsers = Array.new(8) { ann.dup }
    statuses = Pelton.run { Pelton.map(browsers) { |browser| browser.get("/devices") } }

    assert_equal [200] * 8, statuses
    assert_equal 1, browsers.count { |browser| browser.cookies != ann.cookies }
    assert_equal [200, 200],
      [ann, browsers.find { |browser| browser.cookies != ann.cookies }].map { |browser| browser.get("/devices") }
  end

  # bcrypt takes a fifth of a second, in which nobody else could write.
  def digests_are_made_outside_of_transactions
    program = <<~RUBY
      said = Module.new { def digest(...) = super.tap { puts "in a transaction: \#{DB.in_transaction?}" } }
      Pelton::Web::Password.singleton_class.prepend(said)
      user = User.create(email: "eve@example.com", password: "#{PASSWORD}")
      user.change_password("another long sentence")
      user.update(password: "yet another sentence")
    RUBY

    assert_equal ["false"] * 3,
      lines_of("bundle", "exec", "pelton", "web", "console",
        stdin_data: program).scan(/in a transaction: (\w+)$/).flatten
  end

  # Two workers serve: some of these clients are another's than the message.
  def see_a_message_come(url)
    clients = Array.new(4) { connect("#{url.sub("http", "ws")}cable", headers: {"origin" => url.chomp("/")}) }

    assert_equal ["confirm_subscription"] * 4, clients.map { |client| client.subscribe("MessagesChannel") }
    sent = send_message(url, "<hi>")

    assert_equal [200, true], [sent.status, sent.body.include?("<b>Ann</b>")] # after the redirection
    clients.each { |client| assert_includes client.receive.dig("message", "html"), "<b>Ann</b>: &lt;hi&gt;" }
    clients.each { |client| client.socket.close }
  end

  # In a browser, with the application's policy for scripts: a form that is sent, and a message that comes from
  # elsewhere.
  def browse(url)
    Chromium.open do |chromium|
      chromium.visit(url)
      eventually do # the page's script may not be connected yet
        send_message(url, "from elsewhere")
        sleep 0.1
        chromium.evaluate("document.querySelector('#messages').innerText").include?("from elsewhere")
      end
      chromium.evaluate("const form = document.forms[0]; form.elements['message[author]'].value = 'Eve'; " \
        "form.elements['message[text]'].value = '<i>typed</i>'; form.requestSubmit(); null")
      eventually do
        chromium.evaluate("document.querySelector('#messages li')?.innerText ?? ''").include?("Eve: <i>typed</i>")
      end

      assert_empty chromium.complaints
    end
  end

  def send_message(url, text)
    Pelton::HTTP.post("#{url}messages", form: {"message[author]" => "Ann", "message[text]" => text},
      headers: {"origin" => url.chomp("/")})
  end
end
