# frozen_string_literal: true

require "net/http"
require "open3"
require_relative "../test_helper"

# Sinatra's streams. (Article 002's applications are run by the lab's tests.)
class SinatraTest < PeltonTest
  # Behaves like a server that has no async.callback.
  def test_stream_without_eventmachine
    served(<<~RUBY) do |port|
      get("/parts") { stream { |out| 3.times { |i| (out << i.to_s) && sleep(0.001) } } }
      get("/open") { stream(:keep_open) { |out| Pelton.add_timer(0.01) { (out << "late") && out.close } } }
      get("/thread") { stream(:keep_open) { |out| Thread.new { (out << "other") && out.close }.join } }
      get("/broken") { stream { |out| (out << "x") && raise("within a stream") } }
    RUBY
      assert_equal %w[012 late other], %w[parts open thread].map { |path| Net::HTTP.get("127.0.0.1", "/#{path}", port) }
      assert_raises(EOFError, Errno::ECONNRESET) { Net::HTTP.get("127.0.0.1", "/broken", port) }
    end
  end

  private

  def served(application)
    Dir.mktmpdir do |dir|
      File.write("#{dir}/app.rb", <<~RUBY)
        require "sinatra"
        disable :run, :logging
        set :environment, :production
        #{application}
      RUBY
      File.write("#{dir}/config.ru", "require_relative 'app'\nrun Sinatra::Application")
      command = [{"RUBYLIB" => Children::LIBRARIES}, RbConfig.ruby, File.join(ROOT, "exe/pelton"), "serve",
        "#{dir}/config.ru", "-b", "tcp://127.0.0.1:0"]
      Open3.popen2e(*command) do |_, output, process|
        line = output.gets
        yield Integer(line[/:(\d+) /, 1])
      rescue TypeError
        flunk "#{line}#{output.read_nonblock(10_000)}"
      ensure
        Process.kill("TERM", process.pid)
        process.value
      end
    end
  end
end
