# frozen_string_literal: true

require_relative "../test_helper"

# Faults that the system rarely makes, injected into a program's system calls by strace.
class StraceTest < PeltonTest
  self.deadline = 60

  STRACE = %w[/usr/bin /bin].map { |folder| File.join(folder, "strace") }.find { |path| File.executable?(path) }

  # Runs a program with system calls that fail as told, and returns what it printed.
  def inject(*faults, code)
    skip "strace is not installed" unless STRACE
    command = [STRACE, "-f", "-qq", "-o", "/dev/null", "-e", "trace=#{faults.map { |fault| fault[/\A\w+/] }.join(",")}"]
    faults.each { |fault| command.push("-e", "inject=#{fault}") }
    program = "require \"pelton\"\n$stdout.sync = true\n#{code}"
    output = IO.popen([child_environment, *command, RbConfig.ruby, "-I#{File.join(ROOT, "lib")}", "-e", program], err: %i[child out], &:read)
    skip "strace may not trace here: #{output}" if output.include?("PTRACE")
    output
  end

  ECHO = <<~'RUBY'
    def echo_once(port, word)
      stream = Pelton.connect("127.0.0.1", port)
      stream.write("#{word}\n")
      stream.gets(timeout: 10)
    ensure
      stream&.close
    end
  RUBY

  def test_running_out_of_descriptors_pauses_accepting_and_loses_nobody
    output = inject("accept4:error=EMFILE:when=1..2", ECHO + <<~'RUBY')
      Pelton.run do
        listener = Pelton.listen("127.0.0.1", 0) { |stream| stream.on_data { |data| stream.write(data) } }
        p 3.times.map { |n| echo_once(listener.port, "word#{n}") }
        p listener.stats[:pauses].positive?
        listener.close
      end
    RUBY
    assert_equal "[\"word0\\n\", \"word1\\n\", \"word2\\n\"]\ntrue\n", output
  end

  def test_a_connection_that_died_before_it_was_accepted_is_passed_over
    output = inject("accept4:error=ECONNABORTED:when=1", ECHO + <<~RUBY)
      Pelton.run do
        listener = Pelton.listen("127.0.0.1", 0) { |stream| stream.on_data { |data| stream.write(data) } }
        p echo_once(listener.port, "alive")
        listener.close
      end
    RUBY
    assert_equal "\"alive\\n\"\n", output
  end

  def test_interrupted_waits_are_begun_again
    output = inject("epoll_wait:error=EINTR:when=1+2", "epoll_pwait2:error=EINTR:when=1+2", <<~RUBY)
      log = []
      Pelton.run do
        Pelton.add_timer(0.02) { log << :timer }
        Pelton.spawn { sleep 0.01 and log << :slept }
        reader, writer = IO.pipe
        Pelton.spawn { log << reader.read(2) }
        sleep 0.03
        writer << "ab"
      end
      p log
    RUBY
    assert_equal "[:slept, :timer, \"ab\"]\n", output
  end

  def test_interrupted_sends_are_begun_again
    output = inject("sendto:error=EINTR:when=1+3", ECHO + <<~'RUBY')
      Pelton.run do
        listener = Pelton.listen("127.0.0.1", 0) { |stream| stream.on_data { |data| stream.write(data) } }
        p 5.times.all? { |n| echo_once(listener.port, "word#{n}") == "word#{n}\n" }
        listener.close
      end
    RUBY
    assert_equal "true\n", output
  end

  def test_a_reset_ends_its_connection_alone
    output = inject("sendto:error=ECONNRESET:when=1", ECHO + <<~'RUBY')
      Pelton.run do
        listener = Pelton.listen("127.0.0.1", 0) { |stream| stream.on_data { |data| stream.write(data) } }
        answers = 3.times.map do |n|
          echo_once(listener.port, "word#{n}")
        rescue Pelton::ConnectionError => error
          error.errno == Errno::ECONNRESET::Errno
        end
        p answers
        listener.close
      end
    RUBY
    assert_equal "[true, \"word1\\n\", \"word2\\n\"]\n", output
  end

  def test_a_reactor_that_cannot_be_opened_says_why
    output = inject("epoll_create1:error=EMFILE:when=1+", <<~RUBY)
      begin
        Pelton.run { 1 }
      rescue Pelton::Error => error
        p error.errno == Errno::EMFILE::Errno, error.message
      end
    RUBY
    assert_match(/\Atrue\n".*Too many open files"\n\z/, output)
  end
end
