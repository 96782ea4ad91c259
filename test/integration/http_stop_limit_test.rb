# frozen_string_literal: true

require "tmpdir"
require_relative "../test_helper"
require_relative "../support/running_program"

# pelton serve ends within its time whatever the application does.
class HTTPStopLimitTest < PeltonTest
  include RunningPrograms

  self.deadline = 120

  # What a request does, or the end of the process, and the exit status without workers.
  APPLICATIONS = {
    "computes" => ["loop {}", 1],
    "keeps_rubys_lock" => [<<~RUBY, 1],
      require "fiddle"
      LOCK = Fiddle::Function.new(Fiddle::Handle::DEFAULT["pthread_mutex_lock"], [Fiddle::TYPE_VOIDP], Fiddle::TYPE_INT,
        need_gvl: true)
      mutex = Fiddle::Pointer.malloc(100)
      mutex[0, 100] = "\\0" * 100
      2.times { LOCK.call(mutex) } # it waits for itself
    RUBY
    "ignores_its_end" => [<<~RUBY, 0],
      begin
        sleep
      rescue Exception
        retry
      end
    RUBY
    "hangs_at_exit" => ["at_exit { sleep }; [200, {}, []]", 1]
  }.freeze

  # All at once, since each takes the time that a process has.
  def test_whatever_an_application_does
    statuses =
      APPLICATIONS.to_h { |name, (code, _)| [name, Thread.new { stopped(code, workers: 0) }] }.transform_values(&:value)

    assert_equal APPLICATIONS.transform_values(&:last), statuses
  end

  def test_whatever_an_application_does_in_a_worker
    statuses = APPLICATIONS.map { |_, (code, _)| Thread.new { stopped(code, workers: 1) } }.map(&:value)

    assert_equal [0], statuses.uniq
  end

  # As whoever presses Ctrl-C again expects.
  def test_the_second_signal_does_not_wait_for_the_loop
    statuses =
      [0, 1].to_h do |workers|
        [workers, Thread.new { stopped("loop {}", workers: workers, timeout: 1000, signals: 2) }]
      end.transform_values(&:value)

    assert_equal({0 => 1, 1 => 0}, statuses)
  end

  private

  # The exit status of a server that is stopped while a request does this.
  def stopped(code, workers:, timeout: 0.1, signals: 1)
    Dir.mktmpdir do |dir|
      File.write("#{dir}/config.ru", "run(lambda do |env|\nFile.write('begun', Process.pid.to_s)\n#{code}\nend)")
      File.write("#{dir}/pelton.rb",
        "bind 'unix://s'; workers #{workers}; shutdown_timeout #{timeout}; preload #{workers.positive?}")
      server = start_program(*PELTON, "serve", folder: dir, env: {"PELTON_WATCHDOG" => "off"})
      client = await_program(server) { connect("#{dir}/s") }
      client.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      begun = eventually("the request", timeout: 60) { File.exist?("#{dir}/begun") && File.read("#{dir}/begun")[/.+/] }
      signals.times do
        Process.kill("TERM", server.pid)
        sleep 0.5 # or the system merges them
      end
      status = server.wait
      eventually("the worker's end", timeout: 60) { ended?(begun) }
      return status.exitstatus
    ensure
      client&.close
    end
  end

  def connect(path)
    UNIXSocket.new(path)
  rescue Errno::ENOENT, Errno::ECONNREFUSED
    nil
  end
end
