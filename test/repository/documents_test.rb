# frozen_string_literal: true

require "json"
require "open3"
require "tempfile"
require "tmpdir"
require "yaml"
require_relative "../test_helper"
require_relative "../support/certificates"
require_relative "../support/example_programs"
require "pelton/command"
require "pelton/http/command"
require_relative "../../docs/images/chart"

# The files and methods that the documents name exist, and the documents' examples run.
class DocumentsTest < PeltonTest
  DOCUMENTS = Dir["{,docs/**/,{ext,lib}/**/,pelton-*/**/}*.md", base: ROOT].sort.freeze
  HERE = "https://github.com/pelton-rb/pelton/blob/main/"
  # Documents that explain how names are made.
  PATTERNS = %w[CONTRIBUTING.md docs/internals/adr/000-template.md].freeze
  EXAMPLE = /^ *```ruby\n(.*?)^ *```/m
  # Documents whose examples are programs of their own, whose output is compared. The examples use port 7000.
  GUIDES_OF_PROGRAMS =
    %w[runtime deferrables streams processes testing web_testing debugging observability from_async from_eventmachine
      eventmachine].freeze

  include ExamplePrograms

  # They are read where the gem is installed, which has no other documents.
  def test_links_of_documents_in_gems_name_the_repository
    relative = DOCUMENTS.grep(%r{\A(?:pelton-\w+/)?(?:README|CHANGELOG)\.md\z}).flat_map do |document|
      read(document).scan(/\]\(([^)\s]+)\)/).flatten
        .reject { |link| link.match?(/\A(?:https?:|#|(?:CHANGELOG\.md|LICENSE)\z)/) }.map do |link|
        [document, link]
      end
    end

    assert_empty relative
  end

  # A client's own X-Forwarded headers must not pass, wherever the lines are copied from.
  def test_nginx_sets_the_same_headers_everywhere
    files = DOCUMENTS + Dir["examples/**/*.conf", base: ROOT]
    sets = files.flat_map do |file|
      read(file).scan(/(?:^ *proxy_set_header .*\n)+/).map { |lines| [file, lines.gsub(/^ +/, "").lines.sort] }
    end

    assert_operator sets.size, :>=, 4
    assert_equal 1, sets.map(&:last).uniq.size, sets.map { |file, lines| "#{file}:\n#{lines.join}" }.join("\n")
  end

  def test_units_of_systemd_leave_little_to_an_intruder
    guide = read("docs/guides/deployment.md")[/^```ini\n(.*?)^```/m, 1]
    units = {"guide.service" => guide, "chat.service" => read("examples/chat/deploy/chat.service")}
    hardening = units.values.map { |unit| unit[/^CapabilityBoundingSet=.*^SystemCallErrorNumber=.*?$/m] }

    assert_equal 1, hardening.uniq.size, "both have the same lines"
    unless `systemd-analyze --version 2>/dev/null`[/\d+/].to_i >= 252
      skip "systemd-analyze security --offline is missing"
    end
    Dir.mktmpdir do |folder|
      units.each do |name, unit|
        File.write("#{folder}/#{name}", unit)
        # 3.0 of 10
        said, status = Open3.capture2e("systemd-analyze", "security", "--offline=true", "--threshold=30",
          "#{folder}/#{name}")

        assert_predicate status, :success?, said.lines.last
      end
    end
  end

  def test_links_lead_somewhere
    broken = each_match(/\]\(([^)\s]+)\)/).reject do |document, link|
      path, anchor = link.delete_prefix(HERE).delete_suffix("?raw=true").split("#", 2)
      file = if path.empty?
        document
      else
        File.join(link.start_with?(HERE) ? "." : File.dirname(document), path)
      end
      path.match?(/\Ahttps?:/) || (File.exist?(File.join(ROOT,
        file)) && (anchor.nil? || anchors(file).include?(anchor)))
    end

    assert_empty broken
  end

  def test_files_that_are_named_are_there
    missing = each_match(%r{`((?:\.ci|lib|test|ext|docs|bin|exe|core|ruby|pelton-\w+)/[\w.*/-]+)`}).reject do |_, name|
      [name, "ext/pelton/#{name}"].any? { |pattern| Dir[pattern, base: ROOT].any? }
    end

    assert_empty missing
  end

  # File names in commands, which have no backticks.
  def test_programs_that_are_run_are_there
    missing = each_match(%r{^ {4}.*?((?:test|pelton-\w+)/[\w/]+\.\w+)}, DOCUMENTS).reject do |_, name|
      File.exist?(File.join(ROOT, name))
    end

    assert_empty missing
  end

  # An interactive bash replaces `!` by a line of its history, also in double quotes.
  def test_commands_that_are_pasted_into_a_shell_reach_it_unchanged
    replaced = each_match(/^ {4}(.*)$/).select do |_, line|
      line.match?(/\A(?:bundle exec )?pelton /) && line.gsub(/'[^']*'/, "").match?(/![^\s="(]/)
    end

    assert_empty replaced
  end

  def test_examples_are_ruby
    each_match(EXAMPLE).each { |document, code| assert RubyVM::InstructionSequence.compile(code, document) }
  end

  # A reader who copies an example knows what else it needs.
  def test_each_guide_says_before_its_first_example_what_its_examples_need
    silent = Dir["docs/{start,guides,reference}/*.md", base: ROOT].reject do |guide|
      read(guide).split(/^ *```ruby$/, 2).then do |before, after|
        after.nil? || before.match?(/^\*\*The examples?\*\* /)
      end
    end

    assert_empty silent
  end

  # A newcomer has the gem and this program, and nothing else.
  def test_the_readme_s_first_program_prints_what_the_readme_says
    program, output = read("README.md").match(/^```ruby\n(.*?)^```\n\n```text\n(.*?)^```/m).captures

    assert_equal output, ruby_output(program)
  end

  def test_the_readme_s_other_examples
    _, styles, config = read("README.md").scan(EXAMPLE).flatten

    assert_equal "hello\nhello\n", ruby_output(styles)
    assert_equal [200, {"content-type" => "text/plain"}, ["hello\n"]],
      Object.new.tap { |file| def file.run(app) = app }.instance_eval(config).call({})
  end

  def test_the_readme_s_live_pages
    live = read("README.md").scan(EXAMPLE).flatten.fetch(3)
    app = Class.new { def run(app) = app }.new.instance_eval(live)
    Pelton.run do
      server = Pelton::HTTP::Server.new(app)
      address = "127.0.0.1:#{server.listen("tcp://127.0.0.1:0").port}"
      one, other = Array.new(2) { Pelton::HTTP::WebSocket.connect("ws://#{address}/chat") }
      one.write("hello")

      assert_equal "hello", other.receive(timeout: 5)
      Pelton::HTTP.get("http://#{address}/clock", stream: true).each_event do |event|
        break assert_match(/\A\d{4}-/, event.data)
      end
      assert_equal 404, Pelton::HTTP.get("http://#{address}/").status
      [one, other].each(&:close)
      Pelton.stop
    end
  end

  def test_the_readme_s_picture_shows_the_measurements_beside_it
    assert_equal read("docs/images/chart.svg"), Chart.new(JSON.parse(read("docs/images/chart.json"))).to_s
  end

  def test_memcached
    with_memcached do |port|
      here = {"127.0.0.1:11211" => "127.0.0.1:#{port}", "10.0.0.1 10.0.0.2 10.0.0.3:11211:2" => "127.0.0.1:#{port}:2"}
      examples("docs/guides/memcached.md", replace: here, without: /OpenTelemetry|ActiveSupport|authority/,
        before: <<~RUBY, after: <<~CHECK)
          require "pelton/memcached"
          servers = "127.0.0.1:#{port}"
          html = "<p>"
          user = Struct.new(:id).new(7)
          Report = Struct.new(:compute).new("computed")
          $cache = -> { Pelton::Memcached::Client.new(servers) }
          $cache.call.set("photo", "x" * 100_000)
        RUBY
          status, headers, body = app.call({})
          check([status, headers["content-length"], body.to_enum.sum(&:bytesize)], [200, "100000", 100_000])
          check($cache.call.get("report"), "\\"computed\\"")
          check($cache.call.get("visitors"), "[7]")
        CHECK
    end
  end

  def test_memcached_server
    examples("docs/guides/memcached_server.md", before: 'require "minitest"')
  end

  def test_scheduler
    examples("docs/reference/scheduler.md", before: <<~RUBY, after: "check(Pelton::Offload::POOL.concurrency, 50)")
      require "pelton"
      require "zlib"
      large = "x" * 1000
      legacy = -> { 1 }
    RUBY
  end

  def test_sequel
    ["docs/guides/sequel.md", "docs/start/from_activerecord.md"].each { |path| examples(path) }
  end

  def test_web_pages
    Dir.mktmpdir { |dir| examples("docs/guides/web_pages.md", before: <<~RUBY) }
      require "fileutils"
      Dir.chdir("#{dir}")
      FileUtils.mkdir("views")
      File.write("views/welcome.txt.erb", "Welcome, <%= @name %>!\n")
      File.write("views/welcome.html.erb", "<p>Welcome, <%= @name %>!</p>\n")
    RUBY
  end

  def test_coming_from_rails
    examples("docs/start/from_rails.md", before: 'require "pelton/web"')
  end

  def test_web
    %w[web web_routes web_forms web_security from_sinatra].each { |name| examples(guide(name)) }
  end

  def test_http_client
    here = {'"https://example.com/"' => "here", '"https://api.example.com/v1/"' => "here"}
    me = Certificates.server
    pems = {"our-authority.pem" => Certificates.authority, "me.pem" => me.certificate, "me.key" => me.key}
    printed =
      Dir.mktmpdir { |dir| examples("docs/guides/http_client.md", replace: here, before: <<~RUBY, after: <<~CHECK) }
        require "pelton/http"
        Dir.chdir("#{dir}")
        File.write("nile.jpg", bytes = "x" * 5000)
        #{pems}.each { |name, pem| File.write(name, pem) }
        file = StringIO.new
        asked = []
        streams = {"/chat" => [200, {"content-type" => "text/event-stream"}, []], "/prices" => [204, {}, []]}
        app = ->(env) do
          streams[env["PATH_INFO"]] || [200, {"content-type" => "application/json"},
            [JSON.generate(asked << [env["REQUEST_METHOD"], env["PATH_INFO"]])]]
        end
        here = "http://127.0.0.1:\#{Pelton::HTTP::Server.new(app).listen("tcp://127.0.0.1:0").port}/"
      RUBY
        check(asked.tally[%w[POST /photos]], 2)
        check(asked.tally[%w[GET /export]], 1)
        check(JSON.parse(file.string).last, %w[GET /export])
      CHECK

    assert_equal "200\n", printed
  end

  def test_http_server
    examples("docs/guides/http_server.md", replace: {"127.0.0.1:9292" => "127.0.0.1:0"}, without: /^bind/)
  end

  def test_pages_in_pieces
    with_memcached do |port|
      examples("docs/guides/pages_in_pieces.md", replace: {"Client.new #" => "Client.new(\"127.0.0.1:#{port}\") #"})
    end
  end

  def test_websocket
    printed = examples("docs/guides/websocket.md", replace: {'"wss://example.com/chat"' => "$chat"}, without: /^gem /,
      before: <<~RUBY, after: <<~CHECK)
        require "pelton/http"
        $apps = []
        def run(app) = $apps << app
        def socket(app)
          Pelton::HTTP::WebSocket.connect(
            "ws://127.0.0.1:\#{Pelton::HTTP::Server.new(app).listen("tcp://127.0.0.1:0").port}"
          )
        end
        echo =
          Pelton::HTTP::Server.new(
            ->(env) { Pelton::HTTP::WebSocket.accept(env) { |one| one.each { |message| one.write(message) } } }
          )
        $chat = "ws://127.0.0.1:\#{echo.listen("tcp://127.0.0.1:0").port}"
      RUBY
        socket($apps[0]).then { |one| check([one.write("hi").receive, one.close], ["you said hi", nil]) }
        chat = Pelton::HTTP::Server.new($apps[1]).listen("tcp://127.0.0.1:0").port
        talkers = Array.new(2) { Pelton::HTTP::WebSocket.connect("ws://127.0.0.1:\#{chat}") }
        sleep 0.001 until CHAT.size == 2
        talkers.first.write("hello")
        check(talkers.map(&:receive), ["hello"] * 2)
        check($apps[2].call({})[1]["content-type"], "text/event-stream")
      CHECK

    assert_empty printed
  end

  def test_the_http_server_s_configuration
    configuration = configured(read("docs/guides/http_server.md").scan(EXAMPLE).flatten.grep(/^bind/).fetch(0))

    assert_equal %w[tcp://0.0.0.0:9292 unix:///run/app.sock ssl://0.0.0.0:9443], configuration.addresses.keys
    assert_equal 2, configuration.workers
    assert_equal "log/access.log", configuration.log
  end

  def test_the_configurations_of_the_guides_to_operation
    deployed, moved = %w[deployment from_puma].map { |name| configured(read(guide(name)).scan(EXAMPLE).flatten.first) }

    assert_equal "/livez", deployed.live_path
    assert_equal "/readyz", deployed.ready_path
    assert_equal 0.5, deployed.readiness.last
    assert_equal %w[tcp://127.0.0.1:3000], moved.addresses.keys
    assert_equal 2, moved.workers
    assert_equal 65, moved.server_options[:idle_timeout]
  end

  def test_the_files_of_the_guide_to_deployment
    guide = read("docs/guides/deployment.md")
    pod, kamal = guide.scan(/^```yaml\n(.*?)^```/m).flatten.map { |text| YAML.safe_load(text) }

    assert_equal 9394, pod.dig("containers", 0, "livenessProbe", "httpGet", "port")
    assert_equal "/readyz", kamal.dig("proxy", "healthcheck", "path")
    assert_operator Integer(guide[/^TimeoutStopSec=(\d+)/, 1]), :>,
      30 + Pelton::Command::STOP_GRACE + Pelton::Command::END_GRACE
    assert_operator pod["terminationGracePeriodSeconds"], :>,
      5 + 30 + Pelton::Command::STOP_GRACE + Pelton::Command::END_GRACE
    return unless system("systemd-analyze", "--version", out: File::NULL, err: File::NULL)
    Dir.mktmpdir do |dir|
      File.write("#{dir}/shop.service", guide[/^```ini\n(.*?)^```/m, 1].gsub("/usr/bin/bundle", RbConfig.ruby))
      output, status = Open3.capture2e("systemd-analyze", "verify", "--man=no", "#{dir}/shop.service")

      assert_equal true, status.success?
      assert_equal "", output.lines.grep(/shop.service/).join
    end
  end

  # In the table of the guide each setting of the installed Puma is named, and what stands beside it is a setting of
  # Pelton's.
  def test_coming_from_puma
    names = ruby_output(<<~RUBY, gems: true).split
      begin
        require "puma/dsl"
        methods = Puma::DSL.instance_methods(false).map { |name| Puma::DSL.instance_method(name).original_name }
        puts methods.uniq.reject { |name| name.start_with?("_") }
      rescue LoadError
        nil
      end
    RUBY
    skip "Puma is not installed" if names.empty?
    rows = read("docs/start/from_puma.md")[/^## Settings\n(.*?)^## /m, 1].scan(/^\| (.*?) \| (.*) \|$/)
    theirs, ours = rows.transpose.map do |cells|
      cells.flat_map { |cell| spans(cell) }.grep(/\A[a-z_]/) { |span| span[/\A\w+[!?]?/] }
    end

    assert_empty names - theirs
    assert_empty ours - names - settings_and_methods - %w[if pelton ssl]
  end

  # What a configuration file may call.
  def settings_and_methods = (Pelton::HTTP::Configuration.instance_methods - Object.instance_methods).map(&:to_s)

  def test_the_settings_that_other_servers_guides_name
    guide = read("docs/start/from_other_servers.md")
    unicorn = guide[/^\| `config\/unicorn.rb`.*?\n\n/m].scan(/^\| .* \| (.*) \|$/).flatten.drop(1)
    named = unicorn.flat_map { |cell| spans(cell) }.grep(/\A[a-z_]+( |\z)/) { |span| span[/\w+/] }

    assert_empty named - settings_and_methods
    help = Pelton::HTTP::Command.new(%w[--help]).answer.gsub("--[no-]", "--")
    flags = guide.scan(/^\| .*? \| (.*) \|$/).flatten.flat_map { |cell| spans(cell) }.grep(/\A-/) { |span| span[/\S+/] }

    assert_empty flags.uniq.reject { |flag| help.match?(/\s#{flag}\b/) }
  end

  def test_the_variables_that_the_guide_to_deployment_names
    named =
      read("docs/guides/deployment.md").scan(/PELTON_[A-Z_]+/).uniq - %w[PELTON_PORT PELTON_BIND PELTON_CONFIG PELTON_]

    assert_empty named - Pelton::HTTP::Environment::VARIABLES.keys
    refute_empty named
  end

  GUIDES_OF_PROGRAMS.each do |name|
    define_method("test_#{name}") do
      file = guide(name)

      assert_examples_run(read(file), file, replace: {"7000" => free_port.to_s})
    end
  end

  # Its first section is an application of Rails: pelton-rails/test/downstream/resumable_streams_test.rb.
  def test_resumable_streams_without_rails
    file = guide("resumable_streams")

    assert_examples_run(read(file)[/^## In pelton-web$.*/m], file)
  end

  private

  def guide(name) = Dir["docs/{start,guides,reference}/#{name}.md", base: ROOT].first

  # The code in a line.
  def spans(line) = line.scan(/`([^`]*)`/).flatten

  def configured(text)
    Tempfile.create { |file| Pelton::HTTP::Configuration.new.load(file.tap { file.write(text) }.tap(&:flush).path) }
  end

  def read(document) = File.read(File.join(ROOT, document), encoding: "UTF-8")

  # [document, text of the pattern's group] for each match in all documents.
  def each_match(pattern, documents = DOCUMENTS - PATTERNS)
    documents.flat_map { |document| read(document).scan(pattern).map { |found,| [document, found] } }
  end

  # The anchors that GitHub makes from headings.
  def anchors(document)
    read(document).scan(/^#+ (.*)$/).map { |text,| text.downcase.gsub(/[^\w\- ]/, "").tr(" ", "-") }
  end

  # Runs the examples of a document, one after the other in one program. They run inside one reactor, unless the
  # document says of its examples only that they run in order. "# => value" is checked.
  #
  # @param replace [Hash{String => String}] parts of their text
  # @param without [Regexp] leaves out the examples that it matches
  # @return [String] the examples' output
  def examples(document, replace: {}, without: /(?!)/, before: "", after: "")
    codes = read(document).scan(EXAMPLE).flatten.grep_v(without).map do |code|
      code = replace.reduce(code) { |text, (from, to)| text.gsub(from, to) }
      code.gsub(/^( *)(\S.*?) +# => (.+)$/) { "#{$1}check((#{$2}), (#{$3}))" }
    end
    refute_empty codes
    alone = read(document).match?(/^\*\*The examples\*\* (?!.*inside `Pelton.run).*run in order/)
    ruby_output(<<~RUBY, stdin: JSON.generate([before, *codes, after]), gems: true)
      require "json"
      require "pelton"
      def check(actual, expected) = actual == expected || abort("\#{actual.inspect} instead of \#{expected.inspect}")
      examples = lambda do
        scope = binding
        JSON.parse($stdin.read).each { |code| eval(code, scope, "#{document}") }
        Pelton.stop unless #{alone}
      end
      #{alone ? "examples.call" : "Pelton.run { examples.call }"}
    RUBY
  end
end
