# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/http/serving"
require_relative "../support/databases"
require "pelton/pubsub"

# What one worker of `pelton serve` publishes, all get: also while workers are killed and replaced.
class PubSubIntegrationTest < PeltonTest
  include HttpServing
  include Databases

  self.deadline = 120

  APPLICATION = <<~RUBY
    require "pelton/pubsub"
    require "pelton/http"
    Pelton::PubSub.keep("t", messages: 10_000)
    run ->(env) do
      position = env["HTTP_LAST_EVENT_ID"]
      case env["PATH_INFO"]
      when "/pid" then [200, {}, [Process.pid.to_s]]
      when "/publish"
        Pelton::PubSub.publish("t", env["QUERY_STRING"])
        Pelton::PubSub.default.engine.drain(timeout: 60) # a worker that is killed loses what it has not sent
        [200, {}, [Process.pid.to_s]]
      when "/stats" then [200, {}, [Pelton::PubSub.stats.inspect]]
      else
        subscription = Pelton::PubSub.subscribe("t", after: position)
        events = Pelton::HTTP::EventStream.new do |stream|
          stream.emit(Process.pid, event: subscription.gap? ? "gap" : "begin")
          subscription.each { |message, number| stream.emit(message, id: number) }
        end
        [200, events.headers, events]
      end
    end
  RUBY

  # Reads in a thread as a browser's EventSource does: it comes back whenever the connection ends.
  class Reader
    # @return [Array<String>]
    attr_reader :messages

    # @return [Integer] how often messages were missing when it came back
    attr_reader :gaps

    def initialize(port)
      @port = port
      @messages = []
      @gaps = 0
      @thread = Thread.new { loop { read } }
    end

    def began? = !!@began

    def stop = @thread.kill.join

    private

    def read
      TCPSocket.open("127.0.0.1", @port) do |socket|
        socket.write("GET /events HTTP/1.1\r\nHost: x\r\n#{"Last-Event-ID: #{@position}\r\n" if @position}\r\n")
        event = nil
        socket.each_line do |line|
          case line
          when /\Aevent: (\w+)/ then event = $1
          when /\Aid: (\S+)/ then @position = $1
          when /\Adata: (\S+)/
            event ? note(event) : @messages << $1
            event = nil
          end
        end
      end
    rescue SystemCallError
      sleep 0.01
    end

    def note(event)
      @gaps += 1 if event == "gap" && @began
      @began = true
    end
  end
  private_constant :Reader

  def test_workers_get_each_other_s_messages
    serving do
      readers = read_at_each_worker
      pids = Array.new(40) { |number| get("/publish?#{number}") }

      assert_equal 2, pids.uniq.size
      readers.each_value { |lines| in_time { messages(lines).size == 40 } }
      one, other = readers.values.map { |lines| messages(lines) }
      assert_equal one, other
      assert_equal Array.new(40, &:to_s), one.sort_by(&:to_i)
    end
  end

  def test_after_the_death_of_a_worker_and_after_a_restart_of_all_readers_resume_without_a_gap
    serving do
      reader = Reader.new(@port)
      in_time { reader.began? } # it gets what is published from then on
      stop = false
      published = 0
      publishing = Thread.new do
        until stop
          published += 1 if get("/publish?#{published}")
          sleep 0.005
        end
      end
      in_time { reader.messages.size > 50 }
      Process.kill("KILL", processes.first)
      in_time do
        published > 150 && server_stats["restarts"] == 1 &&
          server_stats["workers"].count { |worker| worker["ready"] } == 2
      end
      before = processes
      Process.kill("USR1", @master)
      in_time { (processes & before).empty? && processes.size == 2 }
      more = published + 50
      in_time { published > more }
      stop = true
      publishing.join
      all = Array.new(published, &:to_s)
      in_time { (all - reader.messages).empty? }

      assert_equal 0, reader.gaps
      # A publisher that got no answer from the killed worker repeats its message.
      assert_equal all, reader.messages.uniq.sort_by(&:to_i)
    ensure
      publishing&.kill&.join
      reader&.stop
    end
  end

  def test_nothing_is_left_behind
    serving do
      first = hubs
      assert_equal 1, first.size
      Process.kill("USR2", @master)
      in_time { hubs.size == 1 && hubs != first && serving_processes == 2 }
      Process.kill("TERM", @master)
      wait_for_the_end

      assert_empty hubs
    end
  end

  # This process stands for another machine.
  def test_servers_on_several_machines_have_topics_in_common_by_redis
    url = "redis://127.0.0.1:#{redis}"
    serving("--pubsub", url) do
      readers = read_at_each_worker
      Pelton.run do
        other = Pelton::PubSub.new
        other.join(url)
        subscription = other.subscribe("t")
        Pelton.offload { get("/publish?from-a-worker") }

        assert_equal "from-a-worker", subscription.receive(timeout: 10)
        other.publish("t", "from-elsewhere")
        assert other.engine.drain(timeout: 10)
      ensure
        other&.engine&.close
      end
      readers.each_value { |lines| in_time { messages(lines).size == 2 } }

      assert_equal [%w[from-a-worker from-elsewhere]] * 2, readers.values.map { |lines| messages(lines) }
      assert_empty hubs
    end
  end

  def test_nothing_is_left_behind_by_a_master_that_was_killed
    serving do
      assert_equal 1, hubs.size
      kill
      in_time { hubs.empty? }
    end
  end

  private

  def serving(*options)
    Dir.mktmpdir do |folder|
      @folder = folder
      Dir.mkdir("#{folder}/tmp")
      @port = free_port
      File.write("#{folder}/config.ru", APPLICATION)
      command = [RbConfig.ruby, File.join(PeltonTest::ROOT, "exe/pelton"), "serve", "-w", "2", "-q", "-p", @port.to_s,
        "--control", "control", *options]
      env = {"RUBYLIB" => Children::LIB, "TMPDIR" => "#{folder}/tmp"}
      @master = start_program(*command, folder: folder, env: env).pid
      in_time { serving_processes == 2 }
      yield
    ensure
      kill if @master
      # workers that have lost their master remove it, and must not meet the removal of the folder
      in_time { hubs.empty? }
    end
  end

  # The folders of the workers' common topics.
  def hubs = Dir["#{@folder}/tmp/pelton-*"]

  def serving_processes = server_stats&.fetch("workers")&.count { |worker| worker["ready"] }

  # @return [String, nil] nil: the worker has died
  def get(path)
    answer_from(@port, "GET #{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")[/\r\n\r\n(.+)/m, 1]
  rescue SystemCallError
    nil
  end

  def messages(lines) = lines.grep(/\Adata: /).drop(1).map { |line| line[6..].chomp }

  # {pid => lines of an event stream at that worker}
  def read_at_each_worker
    readers = {}
    in_time do
      socket = TCPSocket.new("127.0.0.1", @port)
      socket.write("GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
      lines = []
      Thread.new { socket.each_line { |line| lines << line } }.report_on_exception = false
      in_time { lines.grep(/data: /).any? }
      readers[lines.grep(/data: /).first] ||= lines
      readers.size == 2
    end
    readers
  end
end
