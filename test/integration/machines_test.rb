# frozen_string_literal: true

require_relative "../test_helper"
require "json"
require "securerandom"
require_relative "../support/databases"
require_relative "../support/machines"

# The chat on four machines, as docs/guides/growing.md describes them: a balancer, two applications, and one for
# PostgreSQL with a standby, Redis and memcached. Each is a network namespace.
class MachinesTest < PeltonTest
  # Minutes of the long test.
  SOAK = Float(ENV.fetch("PELTON_SOAK", 0))

  self.deadline = 240 + 120 * SOAK

  CHAT = File.join(ROOT, "examples/chat")
  POSTGRES = Dir["/usr/lib/postgresql/*/bin"].max
  NGINX = "/usr/sbin/nginx"
  VISITORS = 6
  # As the guide says it. A transaction of a machine that is gone may have locked a row.
  KEEPALIVES = File.read("#{ROOT}/docs/guides/growing.md").scan(/^    (tcp_\w+) = (\w+)$/).flat_map do |name, value|
    ["-c", "#{name}=#{value}"]
  end
  # Seconds after which the balancer tries a machine again that did not answer: so long one waits before the next one is
  # restarted.
  FORGOTTEN = Integer(File.read("#{CHAT}/deploy/balancer.conf")[/fail_timeout=(\d+)s/, 1])
  # Seconds without the link. The guide's figures are of 30.
  CUT = Float(ENV.fetch("PELTON_CUT", 8))

  def setup
    skip "needs root, and network namespaces" unless Machines.possible?
    unless POSTGRES && [NGINX, "/usr/bin/redis-server", "/usr/bin/memcached"].all? { |path| File.exist?(path) }
      skip "no PostgreSQL, Redis, memcached or nginx"
    end
    @folder = Dir.mktmpdir("pelton-machines-")
    File.chmod(0o755, @folder)
    @machines = Machines.new(:balancer, :one, :two, :data)
  end

  def teardown
    @machines&.close
    Dir[path("*.log")].each { |file| puts "#{file}:", File.readlines(file).last(15) } unless passed? || skipped?
    FileUtils.rm_rf(@folder) if @folder
  end

  def test_faults_and_restarts
    start_all

    without_failures("nothing happens") { pass(2) }
    without_failures("workers are replaced") { rolling(:USR1) }
    without_failures("each server is started anew") { rolling(:USR2) }
    without_failures("each machine's application ends and starts") { %i[one two].each { |name| restart(name) } }
    without_failures("a node of memcached is lost") { lose_memcached }
    within("a cable is pulled", seconds: 2) { pull_cable }
    only_meanwhile("Redis is killed") { kill_redis }
    only_meanwhile("PostgreSQL restarts") { restart_postgres }
    only_meanwhile("the standby is promoted") { promote }
    end_visitors
    check_messages
  end

  # Workers are replaced each minute, and Redis and PostgreSQL are killed twice each.
  def test_for_a_long_time
    skip "PELTON_SOAK=30 runs it for 30 minutes" unless SOAK.positive?
    start_all
    kills = {1 => :kill_redis, 2 => :restart_postgres, 3 => :kill_redis,
             4 => :restart_postgres}.transform_keys { |part| (SOAK * part / 5).floor }
    SOAK.ceil.times do |minute|
      till = clock + 60
      without_failures("minute #{minute}") { rolling(:USR1) }
      only_meanwhile("minute #{minute}") { send(kills[minute]) } if kills[minute]
      without_failures("the rest of minute #{minute}") { pass([till - clock, 2].max) }
    end
    end_visitors
    check_messages(5432)
  end

  private

  def start_all
    start_data
    prepare_database
    %i[one two].each { |name| start_application(name) }
    start_balancer
    start_visitors
  end

  def path(name) = File.join(@folder, name)

  def log(name) = path("#{name}.log")

  # ---- machines ----------------------------------------------------------------------------------------------------

  def start_data
    FileUtils.mkdir_p([path("primary"), path("standby"), path("redis")])
    FileUtils.chown("postgres", nil, [path("primary"), path("standby")])
    File.chmod(0o700, path("standby"))
    on_data(*postgres("initdb", "-D", path("primary"), "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8",
      "--locale=C"))
    File.write(path("primary/pg_hba.conf"),
      "host all all #{Machines::NETWORK}.0/24 trust\nhost replication all #{Machines::NETWORK}.0/24 trust\n")
    start_postgres("primary", 5432)
    on_data(*postgres("pg_basebackup", "-h", data, "-p", "5432", "-U", "postgres", "-D", path("standby"), "-R",
      "--checkpoint=fast", "--no-sync"))
    start_postgres("standby", 5433)
    # A commit is acknowledged when the standby has it, too.
    psql(5432, "ALTER SYSTEM SET synchronous_standby_names = '*'")
    psql(5432, "SELECT pg_reload_conf()")
    start_redis
    @memcached = [11_211, 11_212].map do |port|
      @machines.start(:data, "memcached", "-l", data, "-p", port.to_s, "-u", "nobody", log: log("memcached"))
    end
  end

  def data = @machines.address(:data)

  def on_data(*command) = @machines.run(:data, *command, chdir: "/")

  def postgres(program, *arguments) = Databases.as("postgres", "#{POSTGRES}/#{program}", *arguments)

  def psql(port, statement, database = "postgres")
    on_data("psql", "-h", data, "-p", port.to_s, "-U", "postgres", "-tAc", statement, database)
  end

  def start_postgres(name, port)
    pid = @machines.start(:data, *postgres("postgres", "-D", path(name), "-p", port.to_s, "-c",
      "listen_addresses=#{data}", "-c", "unix_socket_directories=",
      "-c", "max_connections=100", *KEEPALIVES), log: log("postgres"), chdir: "/")
    instance_variable_set(:"@#{name}", pid)
    eventually("PostgreSQL's #{name}") { answers { psql(port, "SELECT 1") } }
  end

  def start_redis
    @redis = @machines.start(:data, "redis-server", "--bind", data, "--protected-mode", "no", "--dir", path("redis"),
      "--appendonly", "yes", "--appendfsync", "always", log: log("redis"))
    eventually("Redis") { answers { on_data("redis-cli", "-h", data, "ping") } }
  end

  def answers
    yield
  rescue RuntimeError
    false
  end

  def environment
    hosts = "#{data}:5432,#{data}:5433"
    {
      "BUNDLE_GEMFILE" => "#{CHAT}/Gemfile", "RACK_ENV" => "production",
      "SECRET_KEY_BASE" => @secret ||= SecureRandom.hex(64), "BASE_URL" => "http://127.0.0.1",
      "DATABASE_URL" => "postgres://postgres@#{hosts}/chat?target_session_attrs=read-write",
      "PELTON_PUBSUB" => "redis://#{data}:6379",
      "MEMCACHE_SERVERS" => "#{data}:11211,#{data}:11212", "PELTON_BIND" => "tcp://0.0.0.0:9292", "WORKERS" => "2"
    }
  end

  def prepare_database
    psql(5432, "CREATE DATABASE chat")
    [%w[bundle exec pelton db migrate], %w[bundle exec ruby script/seed.rb 10 2 200]].each do |command|
      @machines.run(:one, *command, env: environment, chdir: CHAT)
    end
  end

  def start_application(name)
    pid = @machines.start(name, "bundle", "exec", "pelton", "serve", env: environment, chdir: CHAT, log: log(name))
    eventually("the application on #{name}") do
      answers { @machines.run(name, "curl", "-sf", "-o", File::NULL, "http://127.0.0.1:9292/sign_in/new") }
    end
    (@applications ||= {})[name] = pid
  end

  def start_balancer
    configuration = File.read(File.join(CHAT, "deploy/balancer.conf"))
    %i[one two].each do |name|
      configuration = configuration.sub("server app-#{name}:", "server #{@machines.address(name)}:")
    end
    File.write(path("nginx.conf"), <<~NGINX)
      daemon off;
      user root;
      pid #{path("nginx.pid")};
      error_log #{log("nginx")};
      events {}
      http {
        access_log off;
        client_body_temp_path #{path("body")}; proxy_temp_path #{path("proxy")}; fastcgi_temp_path #{path("fastcgi")}; uwsgi_temp_path #{path("uwsgi")}; scgi_temp_path #{path("scgi")};
        #{configuration}
      }
    NGINX
    @machines.start(:balancer, NGINX, "-c", path("nginx.conf"), log: log("nginx"))
    eventually("nginx") do
      answers { @machines.run(:balancer, "curl", "-sf", "-o", File::NULL, "http://127.0.0.1/sign_in/new") }
    end
  end

  def start_visitors
    @visitors = @machines.start(:balancer, RbConfig.ruby, "-I#{Children::LIBRARIES}",
      File.expand_path("../support/chat_visitors.rb", __dir__), "http://127.0.0.1", VISITORS.to_s, log: log("visitors"))
    eventually("the visitors") { records.any? { |record| record["kind"] == "ready" } }
  end

  def end_visitors
    pass(3)
    @machines.stop(@visitors)
  end

  # ---- faults ------------------------------------------------------------------------------------------------------

  def pass(seconds) = sleep(seconds)

  # The application's master replaces its workers, or itself, while the other machine's answers.
  def rolling(signal)
    %i[one two].each do |name|
      Process.kill(signal, @applications[name])
      pass(4)
      eventually("#{name} after #{signal}") do
        answers { @machines.run(name, "curl", "-sf", "-o", File::NULL, "http://127.0.0.1:9292/sign_in/new") }
      end
    end
  end

  def restart(name)
    @machines.stop(@applications[name])
    start_application(name)
    pass(FORGOTTEN + 1)
  end

  def lose_memcached
    @machines.stop(@memcached.pop, :KILL)
    pass(3)
  end

  def pull_cable
    @machines.link(:one, :down)
    pass(CUT)
    @machines.link(:one, :up)
    pass(3)
  end

  def kill_redis
    (@kills ||= []) << clock
    @machines.stop(@redis, :KILL)
    pass(2)
    start_redis
    pass(2)
  end

  def restart_postgres
    @machines.stop(@primary, :INT)
    start_postgres("primary", 5432)
  end

  def promote
    @machines.stop(@primary, :KILL)
    psql(5433, "SELECT pg_promote()")
  end

  # ---- what the visitors saw -----------------------------------------------------------------------------------------

  def records = File.readlines(log("visitors")).filter_map { |line| JSON.parse(line) if line.end_with?("}\n") }

  def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  # @return [Array<Array(Hash), Float, Float>] requests that began while the block ran or a little later, and that time
  def observe(name)
    from = clock
    yield
    till = clock
    pass(1)
    found = records.select { |record| record["started"]&.between?(from - 0.2, till + 0.5) }
    failed = found.reject { |record| record["status"].between?(200, 399) }
    slowest = found.map { |record| record["at"] - record["started"] }.max
    if ENV["PELTON_SHOW"]
      puts format("%-45s %5d requests, %3d failed, slowest %.2f s", name, found.size, failed.size, slowest)
    end
    assert_operator found.size, :>, 10, name
    [found, failed, from, till]
  end

  def without_failures(name, &work)
    _, failed, = observe(name, &work)
    assert_empty failed.first(3), "#{name}: #{failed.size} failed"
  end

  # Those that were under way on the machine, one of each visitor, wait for it or fail. The balancer notices within a
  # second.
  def within(name, seconds:, &work)
    found, failed, from, = observe(name, &work)
    slow = found.select { |record| record["at"] - record["started"] > seconds * PATIENCE }
    assert_operator (failed | slow).size, :<=, VISITORS, name
    assert_empty (failed | slow).select { |record| record["started"] > from + PATIENCE }.first(3), name
  end

  # Failures are allowed while the service is down and for a moment after.
  def only_meanwhile(name, &work)
    _, _, from, till = observe(name, &work)
    eventually("#{name}: requests are answered again") do
      records.last(10).all? { |record| !record.key?("status") || record["status"].between?(200, 399) }
    end
    pass(2)
    failed = records.select do |record|
      record["started"]&.between?(till + 5, clock) && !record["status"].between?(200, 399)
    end
    assert_empty failed, "#{name} (#{from} - #{till})"
  end

  def check_messages(port = 5433)
    all = records
    acknowledged =
      all.select { |record| record["kind"] == "post" && record["status"]&.between?(200, 399) }.map do |record|
        record["id"]
      end
    stored = psql(port, "SELECT client_id FROM messages", "chat").split
    assert_empty acknowledged - stored, "acknowledged, but not stored"
    [0, 1].each do |socket|
      received = all.select { |record| record["kind"] == "message" && record["socket"] == socket }.flat_map do |record|
        record["ids"].uniq
      end
      assert_empty acknowledged - received, "acknowledged, but not received by socket #{socket}"
      # One whose publisher got no answer from a Redis that was killed may come again; pages know messages by their ids.
      # Each visitor sends one at a time.
      twice = received.tally.select { |_, times| times > 1 }.keys
      assert_empty twice.reject { |id|
        all.any? { |record|
          record["kind"] == "post" && record["id"] == id &&
            @kills.any? { |kill| record["at"].between?(kill - 2, kill + 10) }
        }
      },
        "twice, without a kill"
      assert_operator received.size - received.uniq.size, :<=, @kills.size * VISITORS,
        "socket #{socket} received some twice"
      assert_operator all.count { |record| record["kind"] == "confirm_subscription" && record["socket"] == socket },
        :>, 1, "the socket has come back"
    end
    assert_empty all.select { |record| record["kind"] == "reject_history" }, "positions that are not known"
  end
end
