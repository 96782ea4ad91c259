# frozen_string_literal: true

require "test_helper"
require "support/chromium"
require_relative "../support/generated_application"

class WebGeneratorsApplicationTest < PeltonTest
  self.deadline = 120

  include GeneratedApplication

  def test_it_writes_all_files
    files = generate

    assert_includes files, ".gitignore"
    assert_equal files, Dir["**/*", ".*", base: File.join(@folder, "photo_album")].select { |file| File.file?(File.join(@folder, "photo_album", file)) }.sort
    refute_match(/\{%|%\}/, files.map { |file| File.read(File.join(@folder, "photo_album", file)) }.join)
    assert_includes File.read(File.join(@folder, "photo_album/config/application.rb")), "class PhotoAlbum < Pelton::Web::Application"
    Dir[File.join(@folder, "**/*.rb")].each { |file| assert RubyVM::InstructionSequence.compile_file(file) }
  end

  def test_it_never_overwrites
    Dir.mkdir(File.join(@folder, "photo_album"))
    File.write(File.join(@folder, "shop"), "mine")
    File.symlink("/nowhere", File.join(@folder, "link"))

    %w[photo_album shop link].each { |name| assert_includes assert_raises(Pelton::Web::Generators::Refused) { generate(name) }.message, "is there already" }
    assert_equal "mine", File.read(File.join(@folder, "shop"))
    assert_empty Dir.children(File.join(@folder, "photo_album"))
  end

  def test_names_that_are_none
    ["Shop", "../shop", "/tmp/shop", "a b", "a-b", "1a", "_a", "a_", "a__b", "", "a\n", "a;b", "é", "a" * 51, "kernel", "pelton", "message", "live", "string", "test", "%{x}", "1"].each do |name|
      assert_raises(Pelton::Web::Generators::Refused, name) { generate(name) }
    end
    assert_empty Dir.children(@folder)
  end

  def test_the_command
    out, error = StringIO.new, StringIO.new
    run = ->(*arguments) { Dir.chdir(@folder) { Pelton::Web::Generators::Application.run(arguments, out: out, error: error) } }

    assert_equal [0, 1, 2, 2, 2, 0], [run.call("shop"), run.call("shop"), run.call, run.call("a", "b"), run.call("--nonsense"), run.call("--help")]
    assert_includes out.string, "      create  app/models/message.rb\n"
    assert_includes out.string, "shop/ is written"
    assert_includes File.read(File.join(@folder, "shop/Gemfile")), "gem \"pelton-web\", \"~> #{Pelton::VERSION}\""
    assert_equal 1, run.call("other", "--gems", @folder)
  end

  def test_the_database
    read = ->(path) { File.read(File.join(@folder, path)) }
    generate("one", database: "postgres")

    assert_includes read.call("one/Gemfile"), "gem \"pg\""
    assert_includes read.call("one/config/database.rb"), "\"postgres:///one_\#{environment}\""
    assert_includes read.call("one/test/test_helper.rb"), "\"postgres:///one_test\""
    generate("two", database: "mysql")

    assert_includes read.call("two/Gemfile"), "gem \"trilogy\""
    files = generate("three", database: "none")

    refute_match(/record|DATABASE/i, files.map { |file| read.call("three/#{file}") }.join)
    assert_empty files.grep(%r{\A(?:db|app/models)/})
  end

  def test_a_bare_application
    files = generate("one", bare: true)

    assert_includes files, "app/controllers/home_controller.rb"
    refute_match(/message/i, files.map { |file| File.read(File.join(@folder, "one", file)) }.join.gsub("message) =", ""))
  end

  # What a newcomer does: bundle, rake, pelton db migrate, pelton serve.
  def test_the_application_passes_its_tests_and_serves
    generate
    lines_of("bundle", "install", "--local")

    assert_match(/3 runs, \d+ assertions, 0 failures, 0 errors/, lines_of("bundle", "exec", "rake"))
    lines_of("bundle", "exec", "pelton", "db", "migrate")

    assert_match(/^GET +\/ .*messages#index/, lines_of("bundle", "exec", "pelton", "web", "routes"))
    assert_match(/\[\]/, lines_of("bundle", "exec", "pelton", "web", "console", stdin_data: "p Message.all.to_a\n"))
    serving do |url|
      assert_equal 200, Pelton::HTTP.get(url).status
      assert_includes Pelton::HTTP.get("#{url}icon.svg").body, "<svg"
      Pelton.run { see_a_message_come(url) }
      assert_includes Pelton::HTTP.get(url).body, "<b>Ann</b>: &lt;hi&gt;"
      browse(url) if Chromium.path
    end
  end

  private

  def see_a_message_come(url)
    live = Pelton::HTTP.get("#{url}messages/live", stream: true)
    events = Thread::Queue.new
    reader = Pelton.spawn { live.each { |part| events << part } }

    assert_equal ": connected\n\n", events.pop
    sent = send_message(url, "<hi>")

    assert_equal [200, true], [sent.status, sent.body.include?("<b>Ann</b>")] # after the redirection
    assert_includes events.pop, "<b>Ann</b>: &lt;hi&gt;"
    reader.cancel
  end

  # In a browser, with the application's policy for scripts: a form that is sent, and a message that comes from elsewhere.
  def browse(url)
    Chromium.open do |chromium|
      chromium.visit(url)
      eventually do # the page's script may not be connected yet
        send_message(url, "from elsewhere")
        sleep 0.1
        chromium.evaluate("document.querySelector('#messages').innerText").include?("from elsewhere")
      end
      chromium.evaluate("const form = document.forms[0]; form.elements['message[author]'].value = 'Eve'; form.elements['message[text]'].value = '<i>typed</i>'; form.requestSubmit(); null")
      eventually { chromium.evaluate("document.querySelector('#messages li')?.innerText ?? ''").include?("Eve: <i>typed</i>") }

      assert_empty chromium.complaints
    end
  end

  def send_message(url, text)
    Pelton::HTTP.post("#{url}messages", form: {"message[author]" => "Ann", "message[text]" => text}, headers: {"origin" => url.chomp("/")})
  end
end
