# frozen_string_literal: true

require "test_helper"
require "support/servers"
require "net/http"
require "open3"
require "pelton/lab/web/programs"
require "pelton/lab/web/server"
require "tmpdir"

# pelton-lab/examples/broker, as its README starts it.
class BrokerExampleTest < PeltonTest
  self.deadline = 60

  BYTES = {"Content-Type" => "application/octet-stream"}.freeze
  CONFIG = File.join(ROOT, "pelton-lab/examples/broker/config.ru")

  # An HTTP connection to a broker, which has an embedded memcached unless one is named.
  def broker(**environment)
    environment = {"MEMCACHE_SERVERS" => nil, **environment.transform_keys(&:to_s)}
    Pelton::Lab::WebServer.serve(Pelton::Lab::WebPrograms.pelton(CONFIG), environment:) do |server|
      Net::HTTP.start("127.0.0.1", server.port, nil) { |http| yield http }
    end
  end

  def put(http, path, value, headers = {})
    http.put(path, value, {**BYTES, **headers})
  end

  def test_a_value_is_put_got_and_deleted
    value = Random.new(1).bytes(1_024_000)
    broker do |http|
      assert_equal "404", http.get("/photo").code
      assert_equal "204", put(http, "/photo", value).code
      got = http.get("/photo")

      assert_equal "200", got.code
      assert_equal true, got.body == value
      assert_equal "application/octet-stream", got["content-type"]
      head = http.head("/photo")
      assert_equal "200", head.code
      assert_equal "1024000", head["content-length"]
      assert_nil head.body
      assert_equal %w[204 404 404], [http.delete("/photo"), http.delete("/photo"), http.get("/photo")].map(&:code)
    end
  end

  def test_a_key_is_the_path_after_the_first_slash
    broker do |http|
      assert_equal %w[204 204], ["/a/b", "/a%20b"].map { |path| put(http, path, path).code }
      assert_equal ["/a/b", "/a%20b"], ["/a/b", "/a%20b"].map { |path| http.get(path).body }
      assert_equal %w[400 400], ["/", "/#{"k" * 251}"].map { |path| put(http, path, "x").code }
      assert_equal %w[404 404], ["/", "/#{"k" * 251}"].map { |path| http.get(path).code }
      got = ["/empty", ""].then { |path, value| put(http, path, value) && http.get(path) }
      assert_equal "200", got.code
      assert_equal "", got.body
    end
  end

  def test_a_value_that_is_too_long_is_refused
    broker(BROKER_LARGEST: "10") do |http|
      assert_equal %w[204 413 404], [put(http, "/a", "x" * 10), put(http, "/b", "x" * 11), http.get("/b")].map(&:code)
    end
  end

  def test_a_lifetime_is_a_number_of_seconds
    broker do |http|
      assert_equal %w[204 400 400], %w[60 0 soon].map { |seconds| put(http, "/k", "x", "X-Expires-In" => seconds).code }
    end
  end

  def test_other_methods_are_refused_with_those_there_are
    broker do |http|
      answer = http.post("/k", "x", BYTES)

      assert_equal "405", answer.code
      assert_equal "GET, HEAD, PUT, DELETE", answer["allow"]
    end
  end

  def test_a_setting_that_is_no_number
    {"BROKER_LARGEST" => "1m", "BROKER_TIMEOUT" => "soon"}.each do |name, value|
      output, status = Open3.capture2e({name => value}, RbConfig.ruby, "-I#{ROOT}/lib", "#{ROOT}/exe/pelton", "serve",
        "-b", "tcp://127.0.0.1:0", CONFIG)

      assert_equal 2, status.exitstatus
      assert_includes output, "#{name} is no number: #{value.inspect}"
    end
  end

  # As systemd starts it, but for the paths.
  def test_the_unit_is_one
    skip "systemd-analyze is missing" unless system("which", "systemd-analyze", out: File::NULL)
    unit = File.read("#{ROOT}/pelton-lab/examples/broker/README.md")[/^ +\[Unit\].*?WantedBy=\S+$/m].gsub(/^    /, "")
    Dir.mktmpdir do |folder|
      File.write("#{folder}/broker.service", unit.gsub("/usr/local/bin/pelton", "#{ROOT}/exe/pelton"))

      said = Open3.capture2e("systemd-analyze", "verify", "#{folder}/broker.service").first

      assert_empty said.lines.grep(/broker/) # what it says of the machine's own units is theirs
    end
  end

  # A value of memcached's default limit.
  def test_a_value_that_memcached_refuses
    with_memcached do |port|
      broker(MEMCACHE_SERVERS: "127.0.0.1:#{port}", BROKER_LARGEST: "2000000") do |http|
        assert_equal %w[502 404 204],
          [put(http, "/k", "x" * 1_500_000), http.get("/k"), put(http, "/k", "x")].map(&:code)
      end
    end
  end

  def test_without_memcached_it_says_so
    broker(MEMCACHE_SERVERS: "127.0.0.1:#{free_port}") do |http|
      answer = http.get("/k")

      assert_equal %w[503 1], [answer.code, answer["retry-after"]]
    end
  end
end
