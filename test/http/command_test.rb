# frozen_string_literal: true

require "net/http"
require "open3"
require "stringio"
require_relative "../test_helper"
require_relative "../support/certificates"
require_relative "../support/sockets"
require "pelton/http/command"
require "pelton/command/status"

class HTTPCommandTest < PeltonTest
  self.deadline = 30 # a server starts for each test

  include Sockets

  Command = Pelton::HTTP::Command
  PROGRAM = [*PELTON, "serve"].freeze

  APP = <<~'RUBY'
    run ->(env) {
      [200, {},
        ["#{env["rack.url_scheme"]} #{ENV["RACK_ENV"]} #{ENV["RUBY_GC_MALLOC_LIMIT"]} " \
          "#{ENV["RUBY_FIBER_VM_STACK_SIZE"]}"]]
    }
  RUBY

  def setup
    @environment = ENV["RACK_ENV"] # which a command sets
  end

  def teardown
    ENV["RACK_ENV"] = @environment
  end

  def in_a_folder
    Dir.mktmpdir do |dir|
      File.write("#{dir}/config.ru", APP)
      Dir.chdir(dir) { yield dir }
    end
  end

  # Runs `pelton serve`, and gives its first lines' addresses.
  def serving(*arguments, lines: 1, env: {})
    clean = {"PELTON_WATCHDOG" => "off", "RUBY_GC_MALLOC_LIMIT" => nil, "RUBY_FIBER_VM_STACK_SIZE" => nil,
             "RACK_ENV" => nil, "RUBY_FIBER_MACHINE_STACK_SIZE" => nil}
    Open3.popen2e(clean.merge(env), *PROGRAM, *arguments) do |_, output, process|
      begin
        yield Array.new(lines) { output.gets }, process.pid, output
      ensure # or else the end of this block waits for it
        Process.kill("TERM", process.pid)
      end

      @rest = output.read

      assert_equal 0, process.value.exitstatus, @rest
    end
  end

  # What the server at the UNIX socket answers; nil before it listens.
  def ask(socket, path = "/")
    answer_from(socket, "GET #{path} HTTP/1.0\r\n\r\n")
  rescue Errno::ENOENT, Errno::ECONNREFUSED
    nil
  end

  def test_serving_with_full_stacks_and_ruby_s_own_malloc_limits
    in_a_folder do
      serving("-b", "tcp://127.0.0.1:0", "-e", "production") do |lines,|
        port = lines.first[/:(\d+) /, 1].to_i

        assert_equal "http production  1048576", Net::HTTP.get("127.0.0.1", "/", port)
      end
    end
  end

  # Counts what the collector does while a program with 20,000 objects of its own serves requests, 16 at once.
  COLLECTIONS = <<~'RUBY'
    KEPT = Array.new(20_000) { |i| "kept #{i}" * (1 + i % 3) }
    requests = Array.new(16)
    serve = ->(count) { count.times { |i| requests[i % 16] = Array.new(100) { |j| ["row #{j}", {j => j.to_f}, [j]] } } }
    serve.call(1000)
    before = GC.stat
    serve.call(3000)
    puts %i[count major_gc_count].map { |key| GC.stat(key) - before[key] }.join(" ")
  RUBY

  def collections(environment)
    plain = Command::GARBAGE.keys.push("RUBY_GC_HEAP_FREE_SLOTS", "RUBYOPT").to_h { |name| [name, nil] }
    output, status = Open3.capture2(plain.merge(environment), RbConfig.ruby, "--disable-gems", "-e", COLLECTIONS)

    assert_predicate status, :success?
    output.split.map(&:to_i)
  end

  def test_ruby_takes_its_settings
    said, = Open3.capture2e(Command::GARBAGE, RbConfig.ruby, "-W2", "--disable-gems", "-e", "")

    assert_equal Command::GARBAGE.transform_values(&:to_f),
      said.scan(/^(RUBY_GC_\w+)=(\S+)/).to_h.transform_values(&:to_f)
  end

  def test_its_settings_cause_no_more_full_collections_than_rubys_own
    all, full = collections(Command::GARBAGE)
    _, usual = collections({})

    assert_operator all, :>, 10, "else this shows nothing"
    assert_operator full, :<=, usual + 3
  end

  def test_early_hints
    assert_equal [nil, true],
      in_a_folder {
        [[], ["--early-hints"]].map { |flags| Command.new(flags).configuration.server_options[:early_hints] }
      }
  end

  def test_the_environment_wins_over_the_file_and_flags_over_both
    in_a_folder do
      File.write("pelton.rb", "workers 1; tag 'file'; log_format 'json'")
      variables = {"PELTON_WORKERS" => "2", "PELTON_TAG" => "variable", "PELTON_BIND" => "tcp://127.0.0.1:1"}
      configuration = Command.new(%w[-w 3 -p 2], environment: variables).configuration

      assert_equal 3, configuration.workers
      assert_equal "variable", configuration.tag
      assert_equal "json", configuration.log_format
      assert_equal ["2"], configuration.addresses.keys.map { |address| address[/\d+\z/] }
    end
  end

  def test_a_container_needs_no_file
    in_a_folder do |dir|
      serving(env: {"PELTON_BIND" => "unix://#{dir}/s", "PELTON_LOG_FORMAT" => "json", "PELTON_READY_PATH" => "/ready",
                    "RACK_ENV" => "production"}) do |_, _, output|
        answers = %w[/ready /page].map { |path| ask("#{dir}/s", path) }

        assert_match(/\Aok\n\z/, answers.first.split("\r\n\r\n").last)
        assert_match(/http production/, answers.last)
        assert_match(%r{\A\{"time":.*"path":"/page"}, output.gets)
      end
    end
  end

  def test_paths_of_health_and_a_limit_of_memory
    in_a_folder do
      configuration = Command.new(%w[--live-path /live --ready-path /ready --worker-memory 512M]).configuration

      assert_equal "/live", configuration.live_path
      assert_equal "/ready", configuration.ready_path
      assert_equal 512 << 20, configuration.cluster_options[:memory]
    end
  end

  def test_a_check_serves_nobody
    in_a_folder do
      program = [*PROGRAM, "--check", "-p", "0"]

      assert_equal ["pelton serve: the configuration is good\n", true],
        Open3.capture2e(*program).then { |output, status| [output, status.success?] }
      File.write("config.ru", "raise 'cannot'")

      assert_match(/cannot \(RuntimeError\).*\n.*1 problem/, Open3.capture2e(*program).first)
    end
  end

  # What rack and Pelton do there says nothing about the error.
  def test_an_error_of_the_rackup_file_is_shown_with_the_lines_of_the_application_alone
    in_a_folder do
      {"run Nothing" => /\Aconfig.ru:1:in .*uninitialized constant Nothing \(NameError\)/,
       "run ->(env) {" => /config.ru:1: syntax error/,
       "require 'no_such_gem'" => /cannot load such file -- no_such_gem.*config.ru:1:in /m}.each do |text, message|
        File.write("config.ru", text)
        output, = Open3.capture2e(*PROGRAM, "-p", "0")

        assert_match(message, output)
        refute_match(%r{rack/builder.rb|pelton/http/launcher.rb}, output.lines.grep(/^\s+from /).join)
      end
    end
  end

  def test_the_status_of_workers
    in_a_folder do |dir|
      File.write("config.ru", "run ->(env) { sleep }")
      File.write("pelton.rb", "workers 1; bind 'unix://#{dir}/s'; control '#{dir}/control'; shutdown_timeout 0")
      serving do
        UNIXSocket.open("#{dir}/s") do |socket|
          socket.write("GET /reports HTTP/1.0\r\n\r\n")
          status = eventually do
            StringIO.new.tap do |out|
              Pelton::Status.run(["#{dir}/control"], out: out)
            end.string[/^worker 0\nrequest.*\n.*$/]
          end

          assert_match(%r{\Aworker 0\nrequest "GET /reports" waiting for \S+ s\n    .*config.ru:1:in .*sleep'}, status)
        end
      end
    end
  end

  def test_health_with_workers
    in_a_folder do |dir|
      File.write("pelton.rb", "workers 2; bind 'unix://#{dir}/s'; control '#{dir}/control'; ready_path '/ready'; " \
        "ready { File.exist?('ready') }")
      serving do
        answers = ->(place, path) { ask("#{dir}/#{place}", path)[/\d{3}/] }

        assert_equal %w[200 503 503],
          [answers["control", "/live"], answers["control", "/ready"], answers["s", "/ready"]]
        File.write("ready", "")
        eventually { [answers["control", "/ready"], answers["s", "/ready"]] == %w[200 200] }
      end
    end
  end

  def test_a_configuration_file_and_flags_that_win
    in_a_folder do |dir|
      File.write("pelton.rb", "bind 'tcp://127.0.0.1:1'\nlog '#{dir}/log'\nenvironment 'staging'")
      serving("-b", "unix://#{dir}/s") do |lines,|
        assert_match(%r{unix://#{dir}/s}, lines.first)
        assert_match(/http staging/, ask("#{dir}/s"))
      end
      assert_match(/"GET \/ HTTP\/1.0" 200/, File.read("log"))
    end
  end

  def test_workers
    in_a_folder do |dir|
      serving("-w", "2", "-b", "unix://#{dir}/s") do |lines,|
        assert_match(%r{2 workers serve unix://#{dir}/s \(pid}, lines.first)
        assert_match(/http development  1048576/, ask("#{dir}/s"))
      end
    end
  end

  # Each line has a URL that opens the application.
  def test_where_it_listens
    [[], %w[-w 1]].each do |workers|
      in_a_folder do
        serving("-p", "0", *workers) do |lines,|
          url = lines.first[%r{http://127.0.0.1:\d+}]

          assert_match(/http development/, Net::HTTP.get(URI(url)))
        end
      end
    end
  end

  def test_its_process_id_and_its_workers_names
    skip "valgrind knows no other names of processes" if VALGRIND
    in_a_folder do |dir|
      File.write("config.ru", 'run ->(env) { [200, {}, [File.read("/proc/self/cmdline")]] }')
      File.write("pelton.rb", "pidfile 'app.pid'; tag 'shop'; workers 1; bind 'unix://#{dir}/s'")
      serving do |_, pid|
        assert_equal "#{pid}\n", File.read("app.pid")
        assert_includes ask("#{dir}/s"), "pelton: worker 0 of #{pid} [shop]"
      end
      refute_path_exists "app.pid"
    end
  end

  def test_a_rackup_file_need_not_require_rack
    in_a_folder do |dir|
      File.write("config.ru", "use Rack::Runtime\nrun ->(env) { Rack::Response.new('x').finish }")
      serving("-q", "-b", "unix://#{dir}/s", lines: 0) { assert_match(/x-runtime: /, eventually { ask("#{dir}/s") }) }
    end
  end

  # Through a pipe, too, as systemd has it.
  def test_requests_are_logged_at_once
    [%w[-w 0], %w[-w 1]].each do |workers|
      in_a_folder do |dir|
        serving("-b", "unix://#{dir}/s?mode=606", *workers) do |_, _, output|
          ask("#{dir}/s", "/now")

          assert_match(%r{"GET /now HTTP/1.0" 200}, output.gets)
          assert_equal 0o606, File.stat("#{dir}/s").mode & 0o777
        end
      end
    end
  end

  def test_the_log_s_format
    in_a_folder do |dir|
      serving("-b", "unix://#{dir}/s", "--log-format", "json") do |_, _, output|
        ask("#{dir}/s", "/now")

        assert_match(/\A\{"time":.*"path":"\/now","status":200/, output.gets)
      end
    end
  end

  def test_errors_have_the_logs_format
    in_a_folder do |dir|
      File.write("config.ru", "run ->(env) { raise 'no page' }")
      serving("-b", "unix://#{dir}/s", "--log-format", "json") do |_, _, output|
        ask("#{dir}/s", "/now")
        lines = Array.new(2) { JSON.parse(output.gets) }

        assert_equal [["error", true]],
          lines.filter_map { |line|
            [line["level"], line["message"].include?("no page (RuntimeError)")] if line["level"]
          }
        assert_equal [500], lines.filter_map { |line| line["status"] }
      end
    end
  end

  def test_without_workers_the_service_manager_is_told_as_well
    in_a_folder do |dir|
      manager = Socket.new(:UNIX, :DGRAM)
      manager.bind(Addrinfo.unix("#{dir}/manager"))
      told = Thread::Queue.new
      reader = Thread.new { loop { told << manager.recv(100) } } # what is not read in time is dropped
      serving("-b", "unix://#{dir}/s",
        env: {"NOTIFY_SOCKET" => "#{dir}/manager", "WATCHDOG_USEC" => "20000"}) do |_, pid|
        assert_equal ["READY=1\nMAINPID=#{pid}", "WATCHDOG=1", "WATCHDOG=1"], Array.new(3) { told.pop }
      end
      eventually { told.pop == "STOPPING=1" }
    ensure
      reader&.kill&.join
      manager&.close
    end
  end

  def test_workers_open_the_log_again
    in_a_folder do |dir|
      serving("-w", "2", "-b", "unix://#{dir}/s", "-l", "log") do |_, pid|
        ask("#{dir}/s", "/first")
        eventually { File.read("log").include?("/first") } # a line is written after its answer
        File.rename("log", "log.old")
        Process.kill("HUP", pid)
        eventually { File.exist?("log") }
        eventually { ask("#{dir}/s", "/second") && File.read("log").include?("/second") }
      end
    end
  end

  def test_workers_resume_each_others_tls_sessions
    in_a_folder do |dir|
      File.write("pem", Certificates.server.to_h.values.join)
      File.write("config.ru", "run ->(env) { [200, {}, [Process.pid.to_s]] }")
      serving("-w", "2", "-b", "ssl://127.0.0.1:0?cert=pem") do |lines,|
        port = lines.first[/:(\d+) \(pid/, 1].to_i
        session, seen = nil, {}
        eventually(timeout: 60) do
          pid, resumed, session = shake(port, session)
          seen[pid] = resumed
          seen.size == 2
        end

        assert seen.values.last, "the second worker does not know the first one's sessions"
      end
    end
  end

  # The answer; whether the session was resumed; and the session.
  def shake(port, session)
    tls =
      tls_socket(port, session: session,
        context: OpenSSL::SSL::SSLContext.new.tap { |context| context.max_version = :TLS1_2 })
    tls.write("GET / HTTP/1.0\r\n\r\n")
    [tls.read[/\d+\z/], tls.session_reused?, tls.session]
  ensure
    tls&.close
  end

  def test_quiet_workers
    in_a_folder do |dir|
      serving("-q", "-w", "2", "-b", "unix://#{dir}/s", lines: 0) do
        assert_match(/200 OK/, eventually { ask("#{dir}/s") }) # nothing tells when it listens
      end

      assert_empty @rest
    end
  end

  def asked_wrongly(*arguments)
    error = StringIO.new
    in_a_folder { assert_equal 2, Command.run(arguments, error: error) }
    error.string
  end

  def asked_wrongly_in_a_program(*arguments)
    in_a_folder do
      output, status = Open3.capture2e(*PROGRAM, *arguments)

      assert_equal 2, status.exitstatus, output
      return output
    end
  end

  def test_what_is_asked_wrongly
    assert_match(/invalid option: --threads/, asked_wrongly("--threads", "5"))
    assert_match(/b\.ru/, asked_wrongly("a.ru", "b.ru"))
    assert_equal "pelton serve: there is no configuration file nowhere.rb\n", asked_wrongly("-C", "nowhere.rb")
    assert_equal "pelton serve: a port is 0 to 65535, not 70000\n", asked_wrongly("-p", "70000")
    assert_match(/mode=9: give an octal number such as 660/, asked_wrongly("-b", "unix://s?mode=9"))
    assert_match(/"127.0.0.1:1": give tcp:/, asked_wrongly("-b", "127.0.0.1:1"))
    assert_match(/give it a certificate/, asked_wrongly("-b", "ssl://127.0.0.1:1"))
    assert_match(%r{127.0.0.1:1: nowhere.pem: No such file or directory$},
      asked_wrongly_in_a_program("-b", "ssl://127.0.0.1:1?cert=nowhere.pem", "-w", "2"))
    assert_match(/workers: must .*, not "-1"/, asked_wrongly("-w", "-1"))
    assert_match(/cache: must .* such as 64M, not "1X"/, asked_wrongly("--cache", "1X"))
    assert_match(%r{live_path: must be a path such as /up, not "up"}, asked_wrongly("--live-path", "up"))
    assert_equal "pelton serve: log_format: must be common or json, not \"xml\"\n", asked_wrongly("--log-format", "xml")
    assert_match(/password/, asked_wrongly("-b", "ssl://127.0.0.1:1?password=x"))
  end

  def test_a_rackup_file_that_is_not_there
    [[], %w[-w 2]].each do |workers|
      output, status = Open3.capture2e(*PROGRAM, "-p", "0", *workers, "nowhere.ru")

      assert_equal "pelton serve: there is no nowhere.ru: name the rackup file, or write one\n", output
      assert_equal 2, status.exitstatus
    end
  end

  def test_a_log_that_cannot_be_written
    output, status = in_a_folder { Open3.capture2e(*PROGRAM, "-p", "0", "-l", "no/log") }

    assert_equal "pelton serve: No such file or directory - no/log\n", output
    assert_equal 1, status.exitstatus
  end

  def test_help_and_version
    usage, version = /\Ausage: pelton serve/, /\Apelton #{Pelton::VERSION}$/o
    {"--help" => usage, "-h" => usage, "--version" => version, "-v" => version}.each do |argument, answer|
      out = StringIO.new

      assert_equal 0, Command.run([argument], out: out)
      assert_match(answer, out.string)
    end
  end
end
