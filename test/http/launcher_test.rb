# frozen_string_literal: true

require "stringio"
require "tempfile"
require_relative "../support/certificates"
require_relative "../support/http/peer"
require "pelton/cluster"
require "pelton/http/launcher"

class HTTPLauncherTest < PeltonTest
  include HttpPeer

  def launch(app = HELLO, **settings, &block)
    configuration = Pelton::HTTP::Configuration.new
    configuration.bind("tcp://127.0.0.1:0")
    settings.each { |name, value| configuration.public_send(name, value) }
    yield configuration if block&.arity == 2
    @out = StringIO.new
    @launcher = Pelton::HTTP::Launcher.new(configuration, app: app, out: @out)
    @launcher.run do |launcher|
      Pelton.spawn { connect(launcher, &block) }
    end
  end

  def connect(launcher)
    client = Peer.new(TCPSocket.new("127.0.0.1", launcher.server.listeners.first.port))
    yield client
  ensure
    client&.close
    Process.kill("TERM", Process.pid)
  end

  # Nothing answers the authority by HTTP where all addresses have TLS.
  def test_how_an_authority_for_certificates_may_ask
    require "pelton/http/acme"
    addresses = %w[ssl://127.0.0.1:0 tcp://127.0.0.1:0]

    assert_equal [%w[tls-alpn-01], %w[http-01 tls-alpn-01]], [addresses.first(1), addresses].map { |some| ways(some) }
  end

  def ways(addresses)
    ways = nil
    Dir.mktmpdir do |folder|
      configuration = Pelton::HTTP::Configuration.new
      {acme: "a.example", acme_folder: folder}.each { |name, value| configuration.public_send(name, value) }
      addresses.each { |address| configuration.bind(address) }
      authority = Struct.new(:certificate).new(Certificates.for("a.example").to_h.values)
      order = Pelton::HTTP::Acme::Order
      order.stub(:prepare, nil) do
        order.stub(:new, ->(*, **options) { (ways = options.fetch(:ways)) && authority }) do
          Pelton::HTTP::Launcher.new(configuration, app: HELLO, out: StringIO.new).run do
            Process.kill("TERM", Process.pid)
          end
        end
      end
    end
    ways
  end

  def joins_memory?(**settings)
    tasks = []
    launch(**settings) { tasks = Pelton.tasks.map(&:name) }
    tasks.include?("huge pages")
  end

  def test_memory_is_joined_into_huge_pages
    assert joins_memory?
    assert joins_memory?(workers: 2)
  end

  def test_memory_that_workers_share_is_not_joined
    refute joins_memory?(workers: 2, preload: true)
  end

  def test_memory_is_not_joined_where_a_setting_says_so
    refute joins_memory?(huge_pages: false)
  end

  class Foreign < Exception # rubocop:disable Lint/InheritException
  end

  # A library may limit the time of a request so, whose thread is the thread of all.
  def test_what_another_thread_raises_while_no_request_runs_ends_nothing
    thread = Thread.current
    statuses = []
    status = launch do |client|
      3.times do |i|
        Thread.new { Thread.pass until thread.stop? && thread.raise(Foreign, i.to_s).nil? }
        sleep 0.001 until reported.size > i
        statuses << client.get("/").status
      end
    end

    assert_equal [200] * 3, statuses
    assert_equal 0, status
    assert_equal %w[0 1 2], reported.grep(Foreign).map(&:message)
  end

  # Where requests without TLS are redirected, those for files are, too.
  def test_files_are_redirected_with_the_rest
    Dir.mktmpdir do |folder|
      File.write("#{folder}/a.txt", "a")
      plain = proxied = nil
      launch(public: folder, https_only: true) do |client|
        plain = client.get("/a.txt")
        proxied = client.get("/a.txt", "X-Forwarded-Proto: https\n")
      end

      assert_equal 301, plain.status
      assert_equal "https://localhost/a.txt", plain["location"]
      assert_equal "a", proxied.body
    end
  end

  def test_it_serves_until_a_signal_comes
    body = nil
    before = Signal.trap("TERM", "DEFAULT")

    assert_equal 0, launch { |client| body = client.get("/a").body }
    assert_equal "hello", body
    expected =
      %r{\APelton \S+ listens on http://127.0.0.1:\d+ \(pid \d+\)\n127.0.0.1 - - .* "GET /a HTTP/1.1" 200 5\n\z}
    assert_match expected, @out.string
    assert_equal "DEFAULT", Signal.trap("TERM", before)
  end

  # A supervisor may send a signal as soon as it has read the line.
  def test_a_signal_may_come_when_it_says_that_it_listens
    address = Pelton::HTTP::Configuration.new.tap { |one| one.bind("tcp://127.0.0.1:0") }
    out = StringIO.new
    out.define_singleton_method(:puts) { |line| super(line).tap { Process.kill("TERM", Process.pid) } }

    assert_equal 0, Pelton::HTTP::Launcher.new(address, app: HELLO, out: out).run
    assert_match(/listens on/, out.string)
  end

  # Its sockets are open then, for the program that follows.
  def test_it_may_be_told_to_start_again
    address = "tcp://127.0.0.1:#{free_port}"
    sockets = Pelton::Cluster::Sockets.open([address])
    configuration = Pelton::HTTP::Configuration.new.tap { |one| one.bind(address) }
    {"USR1" => [nil, false], "USR2" => [nil, false], "TERM" => [0, true]}.each do |signal, result|
      launcher = Pelton::HTTP::Launcher.new(configuration, app: HELLO, out: StringIO.new)
      status = launcher.run(sockets: sockets) do
        client = Peer.new(TCPSocket.new("127.0.0.1", sockets[address].local_address.ip_port))
        Pelton.spawn { client.get("/").then { Process.kill(signal, Process.pid) }.then { client.close } }
      end

      assert_equal result, [status, sockets[address].closed?], signal
    end
  end

  # It may be handed in until the requests are done.
  def test_work_beside_the_requests_is_finished_at_a_stop_and_then_refused
    work, done = Pelton::Background.new(concurrency: 1), []
    app = lambda do |env|
      3.times { |number| work.run { sleep(0.005) && done << number } }
      HELLO.call(env)
    end
    refused = nil
    launch(app) do |given, _|
      next given.get("/") unless given.is_a?(Pelton::HTTP::Configuration)
      given.on_shutdown { refused = assert_raises(Pelton::ClosedError) { work.run {} } }
    end

    assert_equal [0, 1, 2], done
    assert_match(/the server stops/, refused.message)
    # Until the process ends
    assert_raises(Pelton::ClosedError) do
      Thread.new { work.run {} }.tap { |thread| thread.report_on_exception = false }.value
    end
  end

  def test_quiet
    launch(quiet: true) { |client| client.get("/") }

    assert_empty @out.string
  end

  def test_its_control_socket
    Dir.mktmpdir do |dir|
      answer = nil
      launch(control: "#{dir}/s") do |client|
        client.get("/")
        answer = answer_from("#{dir}/s", "GET /metrics HTTP/1.0\r\n\r\n")
      end

      assert_match(/^pelton_http_requests_total\{worker="0"\} 1$/, answer)
      refute_path_exists "#{dir}/s"
    end
  end

  def test_its_cache_is_purged_by_the_control_socket
    Dir.mktmpdir do |dir|
      ages = answer = nil
      app = ->(_) { [200, {"cache-control" => "public, max-age=60"}, ["a"]] }
      launch(app, control: "#{dir}/s", cache: 1 << 20) do |client|
        ages = Array.new(2) { client.get("/a")["age"] }
        answer = Thread.new { offloaded("#{dir}/s", "/purge?path=/a", "POST") }.value
        ages << client.get("/a")["age"]
      end

      assert_equal '{"purged":1}', answer.split("\r\n\r\n").last
      assert_equal [nil, "0", nil], ages
    end
  end

  def test_what_it_does_at_this_moment
    Dir.mktmpdir do |dir|
      rows = nil
      app = lambda do |env|
        sleep if env["PATH_INFO"] == "/slow"
        2.times { sleep 0.01 } # the other one is older
        rows = JSON.parse(Thread.new { offloaded("#{dir}/s", "/tasks") }.value.split("\r\n\r\n").last)
        Process.kill("TERM", Process.pid)
        [200, {}, []]
      end
      launch(app, control: "#{dir}/s", shutdown_timeout: 0) do |client|
        client.say("GET /slow?secret HTTP/1.1\nHost: h\n\n")
        eventually { @launcher.server.stats[:running] == 1 }
        Peer.new(TCPSocket.new("127.0.0.1", @launcher.server.listeners.first.port)).get("/quick")
      end

      assert_equal [["GET /slow", "waiting"], ["GET /quick", "waiting"]],
        rows.first(2).map { |row| row.values_at("name", "state") }
      assert_match(/launcher_test.rb:\d+:in .*sleep'/, rows.first["backtrace"].first)
      assert_operator rows[0]["age"], :>=, rows[1]["age"]
    end
  end

  def test_it_is_ready_until_it_stops
    Dir.mktmpdir do |dir|
      answers = []
      app = lambda do |_env|
        Process.kill("TERM", Process.pid)
        eventually { answers << offloaded("#{dir}/s", "/ready")[/\d{3}.*\z/m] and answers.last.start_with?("503") }
        answers << offloaded("#{dir}/s", "/live")[/\d{3}/]
        [200, {}, []]
      end
      launch(app, control: "#{dir}/s", live_path: "/live", ready_path: "/ready") do |client|
        answers.push(client.get("/live").status, client.get("/ready").status, offloaded("#{dir}/s", "/ready")[/\d{3}/])
        client.get("/")
      end

      assert_equal [200, 200, "200"], answers.first(3)
      assert_match(/\A503.*it stops\n\z/m, answers[-2])
      assert_equal "200", answers.last
    end
  end

  def test_where_no_more_requests_may_run_it_is_alive_and_ready
    free, answers = Pelton::Operation.new, []
    app = lambda do |env|
      free.await if env["PATH_INFO"] == "/slow"
      [200, {}, []]
    end
    launch(app, concurrency: 1, queue: 0, live_path: "/live", ready_path: "/ready") do |client|
      client.say("GET /slow HTTP/1.1\nHost: a\n\n")
      others = %w[/live /ready /other].map do |path|
        Peer.new(TCPSocket.new("127.0.0.1", @launcher.server.listeners.first.port)).get(path).status
      end
      free.succeed
      answers.push(client.response.status, *others)
    end

    assert_equal [200, 200, 200, 503], answers
  end

  def offloaded(path, target, method = "GET")
    answer_from(path, "#{method} #{target} HTTP/1.0\r\n\r\n")
  end

  def test_the_log_is_opened_again
    Dir.mktmpdir do |dir|
      path = "#{dir}/log"
      launch(log: path) do |client|
        client.get("/1")
        File.rename(path, "#{path}.old")
        Process.kill("HUP", Process.pid)
        sleep 0.005 until File.exist?(path)
        client.get("/2")
      end

      assert_match(/1 HTTP.*\n\z/, File.read("#{path}.old"))
      assert_match(/\A.*2 HTTP.*\n\z/, File.read(path))
    end
  end

  def certificate_at(port)
    tls = tls_socket(port)
    tls.peer_cert.to_pem
  ensure
    tls&.close
  end

  def test_certificates_are_read_again
    Pelton.logger = said = StringIO.new
    first, second = Certificates.for("localhost"), Certificates.for("localhost", valid: -60..7200)
    Tempfile.create("pem") do |file|
      write = ->(one) { File.write(file.path, one.certificate + one.key) }
      write[first]
      configuration = Pelton::HTTP::Configuration.new.tap do |one|
        one.bind("ssl://127.0.0.1:0", certificate: file.path)
      end
      seen = []
      Pelton::HTTP::Launcher.new(configuration, app: HELLO, out: StringIO.new).run do |launcher|
        port = launcher.server.listeners.first.port
        hang_up = -> { Process.kill("HUP", Process.pid) && sleep(0.01) }
        Pelton.spawn do
          seen << certificate_at(port)
          write[second]
          hang_up.call
          hang_up.call until (seen << certificate_at(port)).last != first.certificate
          File.write(file.path, "nonsense")
          hang_up.call until said.string.include?("cannot reload")
          seen << certificate_at(port)
          Process.kill("TERM", Process.pid)
        end
      end

      assert_equal [first.certificate, second.certificate, second.certificate], [seen.first, *seen.last(2)]
    end
  ensure
    Pelton.logger = $stderr
  end

  def test_where_there_is_nothing_to_reload_a_hangup_ends_it
    client = nil
    status = launch do |one|
      client = one
      Process.kill("HUP", Process.pid)
      sleep
    end

    assert_equal 0, status
    refute_nil client
  end

  def test_what_is_missing_shows_before_it_listens
    bind = ->(**tls) { Pelton::HTTP::Configuration.new.tap { |one| one.bind("ssl://127.0.0.1:0", **tls) } }
    error = assert_raises(Pelton::HTTP::Configuration::Invalid) do
      Pelton::HTTP::Launcher.new(bind[certificate: "/no/such.pem"], app: HELLO).check
    end
    assert_match(%r{\Assl://127.0.0.1:0: /no/such.pem: No such file}, error.message)
    log = Pelton::HTTP::Configuration.new.tap { |one| one.log("/no/such/log") }

    assert_raises(Errno::ENOENT) { Pelton::HTTP::Launcher.new(log, app: HELLO).check }
  end

  # The request that is under way when the signal comes is answered.
  def test_a_graceful_stop
    app = lambda do |_env|
      Process.kill("TERM", Process.pid)
      sleep 0.05
      [200, {}, ["done"]]
    end
    client = nil
    launch(app) do
      port = @launcher.server.listeners.first.port
      client = Thread.new { Peer.new(TCPSocket.new("127.0.0.1", port)).get("/").body } # which outlives the reactor
      sleep
    end

    assert_equal "done", client.value
  end

  def test_a_second_signal_ends_it_at_once
    response = nil
    app = lambda do |_env|
      2.times { Process.kill("INT", Process.pid) && sleep(0.01) }
      sleep
    end
    launch(app) { |client| response = client.get("/") }

    assert_nil response
  end

  def test_it_ends_even_if_it_cannot_stop_as_it_should
    launch(HELLO) do |client|
      @launcher.server.define_singleton_method(:stop) { |**| raise "no way" }
      client.get("/")
    end

    assert_equal ["no way"], reported.map(&:message)
  end

  def test_the_rackup_file
    Dir.mktmpdir do |dir|
      File.write("#{dir}/config.ru", 'run ->(env) { [200, {}, ["from the file"]] }')
      body = nil
      launch(nil, rackup: "#{dir}/config.ru") { |client| body = client.get("/").body }

      assert_equal "from the file", body
    end
    assert_raises(Pelton::HTTP::Configuration::Invalid) { launch(nil, rackup: "/no/such/file") { nil } }
  end

  def test_hooks_run_inside_the_reactor
    running = []
    launch(quiet: true) do |configuration, _|
      next unless configuration.respond_to?(:on_boot)
      configuration.on_boot { running << [:boot, Pelton.running?, @launcher.server.listeners.size] }
      configuration.on_shutdown { running << [:shutdown, Pelton.running?, @launcher.server.listeners.size] }
    end

    assert_equal [[:boot, true, 0], [:shutdown, true, 0]], running
  end
end
