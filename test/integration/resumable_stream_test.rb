# frozen_string_literal: true

require "pg"
require "tmpdir"
require_relative "../test_helper"
require_relative "../support/databases"
require_relative "../support/running_program"
require "pelton/http"

# A server, and a writer in another process, which share a store in a file.
class ResumableStreamProcessesTest < PeltonTest
  include Databases
  include RunningPrograms

  self.deadline = 120

  # A store that several processes have.
  STORE = <<~RUBY
    require "json"
    require "pelton/resumable_stream"
    class FileStore
      FIRST = {"run" => 0, "state" => "waiting", "text" => ""}.freeze
      def read = open { |file| load(file) }.transform_keys(&:to_sym).then do |values|
        values.merge(alive_at: values[:alive_at] && Time.at(values[:alive_at]))
      end
      def write(changes, run:, state:)
        open do |file|
          values = load(file)
          next false unless values.values_at("run", "state") == [run, state]
          values.merge!(changes.transform_keys(&:to_s))
          values["alive_at"] = values["alive_at"].to_f
          file.truncate(0)
          file.rewind
          file.write(JSON.generate(values))
          true
        end
      end
      private
      def open = File.open(File.join(__dir__, "store"), File::RDWR | File::CREAT) do |file|
        file.flock(File::LOCK_EX) && yield(file)
      end
      def load(file) = (text = file.read).empty? ? FIRST.dup : JSON.parse(text)
    end
    STREAM = Pelton::ResumableStream.new("one", FileStore.new)
  RUBY

  APP = <<~RUBY
    require_relative "store"
    require "pelton/http"
    run(lambda do |env|
      next [200, {}, [STREAM.cancel.to_s]] if env["PATH_INFO"] == "/cancel"
      events = Pelton::HTTP::EventStream.new { |out| out.follow(STREAM, after: env["HTTP_LAST_EVENT_ID"]) }
      [200, events.headers, events]
    end)
  RUBY

  # Writes numbers until there is a file "end", or it is cancelled. "left" says that its wait has ended.
  WRITER = <<~RUBY
    require_relative "store"
    Pelton::PubSub.join
    Pelton.run do
      STREAM.write do |out|
        (0..).each do |number|
          out << "\#{number} "
          sleep(File.exist?("pause") ? 600 : 0.005)
          break if File.exist?("end")
        end
      ensure
        File.write("left", "")
      end
    rescue Pelton::ResumableStream::Busy
      sleep 0.1
      retry
    end
    sleep
  RUBY

  def test_a_restart_of_the_server_loses_nothing
    {0 => %w[USR2], 2 => %w[USR1 USR2]}.each do |workers, signals|
      serving(workers) do
        text = +""
        place = follow(text) { text.count(" ") > 20 }
        signals.each do |signal|
          runs = text.dup
          Process.kill(signal, @server.pid)
          place = follow(text, place) { text.count(" ") > runs.count(" ") + 200 }
        end
        File.write(path("end"), "")
        follow(text, place) { text.end_with?("finished") }

        assert_numbers text.delete_suffix("finished"), "\#{workers} workers"
      end
    end
  end

  # The next writer begins anew when the lease of the one that was killed has ended.
  def test_a_writer_that_is_killed
    serving(0, companion: false) do
      writer = start_writer
      text = +""
      place = follow(text) { text.count(" ") > 20 }
      writer.stop("KILL")
      start_writer
      place = follow(text, place, timeout: 60) { text.start_with?("0 1 2 3 ") && @begun }
      File.write(path("end"), "")
      follow(text, place) { text.end_with?("finished") }

      assert_numbers text.delete_suffix("finished")
    end
  end

  def test_a_cancel_ends_the_writer_s_wait
    serving(1, pause: true) do
      text = +""
      place = follow(text) { text.include?("0 ") }

      assert_equal "true", get("/cancel").body
      follow(text, place) { text.end_with?("cancelled") }

      assert_equal "0 cancelled", text
      eventually("the end of its wait") { File.exist?(path("left")) }
    end
  end

  def test_several_machines
    {
      redis: "redis://127.0.0.1:#{redis}",
      postgres: "postgres://postgres@127.0.0.1:#{postgres}/postgres"
    }.each do |name, url|
      serving(0, companion: false, env: {"PELTON_PUBSUB" => url}) do
        start_writer("PELTON_PUBSUB" => url)
        text = +""
        place = follow(text) { text.count(" ") > 100 }
        get("/cancel")
        follow(text, place) { text.end_with?("cancelled") }

        assert_numbers text.delete_suffix("cancelled"), name
        eventually("the end of its wait") { File.exist?(path("left")) }
      end
    end
  end

  private

  def assert_numbers(text, message = nil)
    numbers = text.split.map(&:to_i)

    assert_equal (0...numbers.size).to_a, numbers, message
    assert_operator numbers.size, :>, 20, message
  end

  def path(name) = File.join(@folder, name)

  def serving(workers, companion: true, pause: false, env: {})
    Dir.mktmpdir do |folder|
      @folder = folder
      settings = "bind 'unix://s'; workers #{workers}\n"
      settings << "companion #{RbConfig.ruby.dump}, '-I', #{File.join(ROOT, "lib").dump}, 'writer.rb'\n" if companion
      {"config.ru" => APP, "store.rb" => STORE, "writer.rb" => WRITER, "pelton.rb" => settings}.each do |name, content|
        File.write(path(name), content)
      end
      File.write(path("pause"), "") if pause
      @server = start_program(*PELTON, "serve", folder: folder, env: env)
      yield
      @server.stop
    end
  end

  def start_writer(env = {})
    start_program(RbConfig.ruby, "-I", File.join(ROOT, "lib"), "writer.rb", folder: @folder, env: env)
  end

  def get(path) = Pelton.run { Pelton::HTTP::Client.new("http://localhost", unix: self.path("s")).get(path) }

  # Reads as a browser does, which comes back when the line breaks, until the block is true. The names of the last
  # states are added to the text.
  #
  # @return [String] the position
  def follow(text, place = nil, timeout: 30)
    limit = now + timeout * PATIENCE
    until yield
      flunk "the text ends with #{text[-50..].inspect}" if now > limit
      begin
        place = read_events(text, place) { yield || now > limit }
      rescue Pelton::ConnectionError, SystemCallError
        sleep 0.05 # it does not serve yet
      end
    end
    place
  end

  def read_events(text, place)
    Pelton.run do
      client = Pelton::HTTP::Client.new("http://localhost", unix: path("s"))
      rest = +""
      client.get("/", stream: true, headers: place ? {"last-event-id" => place} : {}).each do |piece|
        rest << piece
        while (event = rest.slice!(/\A.*?\n\n/m))
          place = event[/^id: (.*)/, 1] || place
          take(text, event[/^event: (.*)/, 1], event[/^data: (.*)/, 1])
        end
        break if yield
      end
      place
    ensure
      Pelton.stop
    end
    place
  end

  def take(text, name, data)
    case name
    when nil then text << data.to_s
    when "begin" then text.clear && @begun = true
    when "finished", "cancelled" then text << name
    end
  end
end
