# frozen_string_literal: true

require "tmpdir"
require_relative "../test_helper"
require_relative "../support/running_program"
require_relative "../support/sockets"

# `companion` in pelton.rb: a program that starts and stops with `pelton serve`.
class CompanionTest < PeltonTest
  include RunningPrograms
  include Sockets

  self.deadline = 120

  # Writes its process, and what it gets, to files.
  PROGRAM = <<~RUBY
    trap("TERM") { File.write("stopped", "") && exit }
    File.write("companion", Process.pid.to_s)
    sleep
  RUBY

  def test_it_starts_and_stops_with_the_server
    [0, 1].each do |workers|
      serving(workers) do |server|
        Process.kill("TERM", server)

        assert_equal 0, status_of(server), "#{workers} workers"
        assert File.exist?("#{@folder}/stopped"), "it was not told"
        assert_raises(Errno::ESRCH) { Process.kill(0, @companion) }
      end
    end
  end

  def test_the_server_ends_when_it_ends
    [0, 1].each do |workers|
      serving(workers) do |server|
        Process.kill("KILL", @companion)

        assert_equal 1, status_of(server), "#{workers} workers"
        assert_match(/program.rb has ended \(pid #{@companion} SIGKILL \(signal 9\)\), and so does this server/,
          File.read("#{@folder}/log"))
      end
    end
  end

  # Without a setting: a worker of jobs tells the pages what it does.
  def test_it_has_the_server_s_topics
    program = <<~RUBY
      require "pelton/pubsub"
      File.write("companion", Process.pid.to_s)
      p Pelton::PubSub.join
      sleep 0.01 while Pelton::PubSub.publish("news", "hello").nil?
    RUBY
    [0, 1].each do |workers|
      serving(workers, program: program,
        app: "require 'pelton/pubsub'; run ->(_) { [200, {}, [Pelton::PubSub.subscribe('news').receive]] }") do |server|
        assert_match(/hello\z/, answer, "#{workers} workers")
        Process.kill("USR2", server)
        await_new_companion

        assert_match(/hello\z/, eventually("the server", timeout: 60) { answer }, "#{workers} workers, started again")
        Process.kill("TERM", server)
        status_of(server)
      end
    end
  end

  def test_a_server_that_starts_again_has_a_new_one
    [0, 1].each do |workers|
      serving(workers) do |server|
        before = @companion
        Process.kill("USR2", server)
        await_new_companion

        assert_raises(Errno::ESRCH) { Process.kill(0, before) }
        Process.kill("TERM", server)

        assert_equal 0, status_of(server), "#{workers} workers"
      end
    end
  end

  private

  def serving(workers, program: PROGRAM, app: "run ->(_) { [200, {}, []] }")
    Dir.mktmpdir do |folder|
      @folder = folder
      settings =
        "bind 'unix://s'; workers #{workers}; companion #{RbConfig.ruby.dump}, '-I', #{File.join(ROOT, "lib").dump}, " \
        "'program.rb'"
      {"config.ru" => app, "program.rb" => program, "pelton.rb" => settings}.each do |name, text|
        File.write("#{folder}/#{name}", text)
      end
      server = start_program(*PELTON, "serve", folder: folder)
      await_companion
      await_program(server) { answer }
      yield server.pid
    end
  end

  # @return [String, nil] nil: it does not serve yet
  def answer
    answer_from("#{@folder}/s", "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")[%r{\AHTTP/1.1 200.*}m]
  rescue SystemCallError
    nil
  end

  def await_companion
    file = "#{@folder}/companion"
    eventually("the companion", timeout: 60) { File.size?(file) }
    @companion = File.read(file).to_i # 0 while it is written
  end

  def await_new_companion
    before = @companion
    eventually("a new companion", timeout: 60) { await_companion != before }
  end

  def status_of(server)
    eventually("the end", timeout: 60) { Process.wait(server, Process::WNOHANG) }
    $?.exitstatus
  end
end
