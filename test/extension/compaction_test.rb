# frozen_string_literal: true

require "objspace"
require "timeout"
require "zlib"
require_relative "../support/certificates"
require_relative "../support/http/peer"
require "pelton/memcached"

# The collector moves all objects while an object of each of C's types is in the middle of its work. Then the test ends
# the work.
class CompactionTest < PeltonTest
  include HttpPeer

  TYPES =
    Dir[File.join(ROOT, "ext/pelton/ruby/**/*.c")]
      .flat_map { |file| File.read(file).scan(/wrap_struct_name = "([^"]+)"/).flatten }.freeze

  def setup
    skip "no compaction here" if VALGRIND || !GC.respond_to?(:verify_compaction_references)
    super
    @threshold, Pelton.watchdog = Pelton.watchdog, nil # the watchdog would report the move as a stall
    @gate = Thread::Queue.new
    @done = []
  end

  def teardown
    Pelton.watchdog = @threshold if @gate
    super
  end

  def test_everything_survives_in_its_place
    Pelton.run do
      endings = [timers, counters, operations, streams, http, pages, folders, memcached]
      5.times { GC.start(full_mark: false) } # so that the GC roots grow old
      20.times { Pelton::Reactor.current.yield }
      endings << reply_on_its_way
      assert_empty TYPES - types_alive
      move_everything
      endings.reverse_each(&:call)
    end
    assert_equal [:operation, :restarted, :table, :timed_out, :timer], @done.sort
  end

  private

  def types_alive = ObjectSpace.dump_all(output: :string).scan(/"struct":"(Pelton[^"]*)"/).flatten.uniq

  def move_everything
    names = GC.method(:verify_compaction_references).parameters.map(&:last)
    GC.verify_compaction_references((names.include?(:expand_heap) ? :expand_heap : :double_heap) => true,
      :toward => :empty)
  end

  # Each of these methods begins some work, and returns a proc that ends it.

  def folders
    folder = Pelton::HTTP::Folder.new(__dir__)
    -> { assert_equal File.size(__FILE__), folder.open(File.basename(__FILE__)).size }
  end

  def counters
    counters = Pelton::SharedCounters.new(most: 8)
    counters.add("a", ttl: 1000)
    -> { assert_equal 2, counters.add("a", ttl: 1000) }
  end

  def timers
    idle = Array.new(300) { Pelton.add_timer(1000) { flunk } }
    timer = Pelton.add_timer(1000) { @done << :timer }
    often = Pelton.add_periodic_timer(1000) { often.cancel && @done << :restarted }
    callables = {1 => -> { @done << :table }}
    table = Pelton::TimerTable.new(callables, self)
    waiting = Pelton.spawn { Timeout.timeout(1000) { sleep } }
    -> do
      assert idle.all?(&:cancel)
      timer.restart(0)
      often.restart(0)
      table.add(1, 0)
      waiting.cancel
      assert_raises(Pelton::Cancelled) { waiting.await }
    end
  end

  def operations
    late = Pelton::Operation.new.timeout(1000).errback { @done << :timed_out }
    operation = Pelton::Operation.new.timeout(1000).callback { |symbol| @done << symbol }
    -> do
      late.timeout(0)
      operation.succeed(:operation)
    end
  end

  def streams
    listener = Pelton.listen("127.0.0.1", 0)
    accepted = Pelton.spawn { listener.accept.read }
    one, other = Pelton::Stream.pair
    got = +""
    one.on_data { |bytes| got << bytes }
    -> do
      Pelton.connect("127.0.0.1", listener.port).then { |stream| stream.write("accepted") && stream.close }
      other.write("x" * 100_000) && other.close
      assert_equal "accepted", accepted.await
      Pelton::Reactor.current.yield until one.closed?
      assert_equal "x" * 100_000, got
      listener.close
    end
  end

  def answer(env)
    case env["PATH_INFO"]
    when "/waits" then [200, {}, [@gate.pop]]
    when "/streams" then [200, {}, ->(stream) { stream.write(@gate.pop) && stream.close }]
    when "/later"
      Pelton.spawn { env["async.callback"].call([200, {}, [@gate.pop]]) }
      throw :async
    end
  end

  def http
    server = Pelton::HTTP::Server.new(method(:answer))
    plain = Pelton::HTTP::Client.new("http://127.0.0.1:#{server.listen("tcp://127.0.0.1:0").port}")
    port = server.listen("ssl://127.0.0.1:0", tls: Certificates.server.to_h).port
    secure = Pelton::HTTP::Client.new("https://localhost:#{port}", tls: {ca_file: Certificates.authority})
    answers = [plain, secure].product(%w[/waits /streams /later]).map do |client, path|
      Pelton.spawn { client.get(path).body }
    end
    sleep 0.001 until @gate.num_waiting == answers.size
    -> do
      answers.size.times { @gate << "answer" }
      assert_equal ["answer"], answers.map(&:await).uniq
      [plain, secure].each(&:close)
      assert server.stop
    end
  end

  def pages
    fragment = Pelton::HTTP::Fragment.new("a fragment " * 100)
    page = Pelton::HTTP::Page.new << "before " << fragment << " after"
    -> { assert_equal "before #{"a fragment " * 100} after", Zlib.gunzip(page.gzip) }
  end

  def memcached
    servers = Array.new(2) { Pelton::Memcached::Server.new(port: 0).start }
    @cache = Pelton::Memcached::Client.new(servers.flat_map(&:addresses))
    @cache.set("large", "x" * 300_000)
    @cache.set("small", "y")
    -> do
      assert_equal "y", @cache.get("small")
      @cache.close
      servers.each(&:stop)
    end
  end

  def reply_on_its_way
    small = @cache.later.get("small")
    large = @cache.stream("large")
    -> { assert_equal ["x" * 300_000, "y"], [large.read, small.await] }
  end
end
