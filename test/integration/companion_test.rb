# frozen_string_literal: true

require "socket"
require "tmpdir"
require_relative "../test_helper"

# `companion` in pelton.rb: a program that starts and stops with `pelton serve`.
class CompanionTest < PeltonTest
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
        assert_match(/program.rb has ended \(pid #{@companion} SIGKILL \(signal 9\)\), and so does this server/, File.read("#{@folder}/log"))
      end
    end
  end

  def test_a_server_that_starts_again_has_a_new_one
    [0, 1].each do |workers|
      serving(workers) do |server|
        before = @companion
        File.delete("#{@folder}/companion")
        Process.kill("USR2", server)
        await_companion

        refute_equal before, @companion
        assert_raises(Errno::ESRCH) { Process.kill(0, before) }
        Process.kill("TERM", server)

        assert_equal 0, status_of(server), "#{workers} workers"
      end
    end
  end

  private

  def serving(workers)
    Dir.mktmpdir do |folder|
      @folder = folder
      settings = "bind 'unix://s'; workers #{workers}; companion #{RbConfig.ruby.dump}, 'program.rb'"
      {"config.ru" => "run ->(_) { [200, {}, []] }", "program.rb" => PROGRAM, "pelton.rb" => settings}.each { |name, text| File.write("#{folder}/#{name}", text) }
      server = Process.spawn(child_environment, *PELTON, "serve", chdir: folder, out: "#{folder}/log", err: [:child, :out])
      Guard.kill_at_end(server)
      await_companion
      eventually("the server", timeout: 60) { answers? }
      yield server
    end
  end

  def answers?
    UNIXSocket.open("#{@folder}/s") { |socket| socket.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") && socket.read.start_with?("HTTP/1.1 200") }
  rescue SystemCallError
    false
  end

  def await_companion
    file = "#{@folder}/companion"
    eventually("the companion", timeout: 60) { File.size?(file) }
    @companion = File.read(file).to_i
  end

  def status_of(server)
    eventually("the end", timeout: 60) { Process.wait(server, Process::WNOHANG) }
    $?.exitstatus
  end
end
