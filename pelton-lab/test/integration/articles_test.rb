# frozen_string_literal: true

require "net/http"
require "test_helper"
require "support/running_program"
require "support/sockets"
require "support/temporary_folder"
require "pelton/memcached"

# The articles' programs in pelton-lab/examples/articles, in both ways in. They are changed in ports and sizes alone.
class ArticlesTest < PeltonTest
  include RunningPrograms
  include Sockets
  include TemporaryFolder

  self.deadline = 90

  # Shortens `sleep 2`, and writes how many were asleep at once, at most, to the file that ENV names.
  SLEEPERS = <<~RUBY
    module Sleepers
      LOCK = Mutex.new
      @now = @most = 0

      def self.count(step)
        LOCK.synchronize do
          @most = [@most, @now += step].max
          File.write(ENV.fetch("SLEEPERS"), @most.to_s)
        end
      end

      def sleep(seconds)
        return super unless seconds == 2
        Sleepers.count(1)
        super(0.4)
      ensure
        Sleepers.count(-1) if seconds == 2
      end
    end
    Object.prepend(Sleepers)
  RUBY

  WAYS = %i[option gem].freeze

  # RubyGems activates a gem only with what it depends on, though the option has loaded Pelton's EventMachine before.
  ACTIVATED = {option: ["eventmachine"], gem: []}.freeze

  def setup
    super
    @servers = []
  end

  def teardown
    @servers.each { |server| server.stop("KILL") }
    super
  end

  WAYS.each do |way|
    define_method(:"test_000_memcached_by_#{way}") do
      need("memcached")
      port = with_memcached.tap { |fresh| ask_memcached(fresh, "stats reset") }
      output = output_of(way, "000_memcached.rb", ["memcached"], "11211" => port, "100_000" => 300)

      assert_match(/\Async:\n.*\(.*\)\nasync:\n.*\(.*\)\n\z/m, output)
      assert_equal [600, 600, 600], counters(port)
    end

    define_method(:"test_000_synchrony_by_#{way}") do
      need("em-synchrony", *ACTIVATED[way])
      port = with_memcached.tap { |fresh| ask_memcached(fresh, "stats reset") }
      output = output_of(way, "000_synchrony.rb", ["em-synchrony"],
        "Memcache.connect" => "Memcache.connect('127.0.0.1', #{port})", "100_000" => 100)

      assert_match(/\Aasync:\n.*\(.*\)\n\z/m, output)
      assert_equal [100, 100, 100], counters(port)
    end

    define_method(:"test_001_blocking_by_#{way}") do
      port = free_port
      serve(way, "001_blocking.rb", [], port, "8080" => port)

      assert_equal ["Hello World!"] * 5, ask(port, 5)
      assert_operator asleep_at_once, :>=, 2
    end

    define_method(:"test_001_threads_and_deferrable_by_#{way}") do
      threads, deferrable = free_port, free_port
      serve(way, "001_threads.rb", [], threads, "8081" => threads)
      serve(way, "001_deferrable.rb", [], deferrable, "8082" => deferrable, "8081" => threads)

      assert_equal ["Hello World!"] * 5, ask(deferrable, 5)
      assert_operator asleep_at_once, :>=, 2
    end

    define_method(:"test_002_nonblocking_by_#{way}") do
      need("thin", "sinatra", "rackup", *ACTIVATED[way])
      memcached, port = with_memcached, free_port
      value = "x" * (1000 * 1024)
      Pelton::Memcached::Client.new("127.0.0.1:#{memcached}").set("test", value)
      serve(way, "002_nonblocking.rb", %w[thin sinatra rackup], port, "-p", port.to_s, "11211" => memcached)

      bodies = ask(port, 10, "/test")
      assert_equal 10, bodies.size
      assert_equal [value.size], bodies.map(&:size).uniq
    end
  end

  def test_the_articles_are_quoted_with_their_source
    files = Dir[File.join(ROOT, "pelton-lab/examples/articles/*.rb")]

    assert_equal 6, files.size
    files.each { |file| assert_match(/https:\/\//, File.read(file)[/\A(#.*\n)+/], file) }
  end

  private

  def need(*gems)
    gems.each do |name|
      Dir[*Gem.path.map { |path| File.join(path, "specifications", "#{name}-[0-9]*.gemspec") }].any? ||
        skip("the gem #{name} is not installed")
    end
  end

  # The program, with the changes, each of which must be one.
  def program(name, changes)
    text = File.read(File.join(ROOT, "pelton-lab/examples/articles", name))
    changes.each { |from, to| assert text.gsub!(from, to.to_s), "#{name} has no #{from}" }
    File.join(@folder, name).tap { |path| File.write(path, text) }
  end

  def command(way, program, gems)
    sleepers = File.join(@folder, "sleepers.rb").tap { |path| File.write(path, SLEEPERS) }
    environment = child_environment.merge("SLEEPERS" => File.join(@folder,
      "most"), "RACK_ENV" => "production", "APP_ENV" => "production")
    if way == :option
      return [environment, RbConfig.ruby, "-W0", "-I#{Children::LIBRARIES}", "-rpelton/eventmachine", "-r#{sleepers}",
        program]
    end
    gemfile = File.join(@folder, "Gemfile")
    lines = ["pelton\", path: \"#{ROOT}", "eventmachine\", path: \"#{ROOT}/eventmachine",
      *gems].map { |line| "gem \"#{line}\"\n" }
    File.write(gemfile, "source Gem.sources.to_a.first\n#{lines.join}")
    [environment.merge("BUNDLE_GEMFILE" => gemfile), RbConfig.ruby, "-W0", "-rbundler/setup", "-r#{sleepers}", program]
  end

  def output_of(way, name, gems, changes)
    article = start(command(way, program(name, changes), gems), name)
    assert article.wait.success?, article.output
    article.output
  end

  def serve(way, name, gems, port, *arguments, **changes)
    @servers << start([*command(way, program(name, changes), gems), *arguments], name)
    await_program(@servers.last, name, timeout: 30) { listens?(port) }
  end

  def start((environment, *command), name)
    RunningProgram.new(command, environment, folder: ROOT, log: "#{@folder}/#{name}.log", in: File::NULL)
  end

  def ask(port, count, path = "/")
    Array.new(count) { Thread.new { Net::HTTP.get(URI("http://127.0.0.1:#{port}#{path}")) } }.map(&:value)
  end

  def asleep_at_once = Integer(File.read(File.join(@folder, "most")))

  # memcached's counters: touched, stored, deleted.
  def counters(port)
    stats = ask_memcached(port, "stats").scan(/STAT (\S+) (\d+)/).to_h.transform_values(&:to_i)
    stats.values_at("cmd_get", "cmd_set", "delete_hits")
  end

  def ask_memcached(port, command)
    answer_from(port, "#{command}\r\nquit\r\n")
  end
end
