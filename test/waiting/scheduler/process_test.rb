# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/temporary_folder"
require "minitest/mock"
require "open3"
require "pelton"

# Waiting for processes, on the hook process_wait. Each child waits for a line in a named pipe, which another task of
# the same loop writes: the tests end only if the loop goes on meanwhile.
class SchedulerProcessTest < PeltonTest
  include TemporaryFolder

  self.deadline = 15

  def setup
    super
    @path = "#{@folder}/pipe"
    File.mkfifo(@path)
    @pipe = File.open(@path, File::RDWR) # does not wait for a reader
    @pipe.sync = true
  end

  def teardown
    @pipe.close
    super
  end

  def test_ways_to_wait
    {
      system: -> { system("#{command}; exit 3") && $?.exitstatus },
      backticks: -> { [`#{command}; echo $line; exit 3`, $?.exitstatus].last },
      wait_for_one: -> { Process.wait(child) && $?.exitstatus },
      wait2: -> { Process.wait2(child).last.exitstatus },
      wait_for_its_group: -> { Process.wait(-child(pgroup: true)) && $?.exitstatus },
      detach: -> { Process.detach(child).value.exitstatus },
      status: -> { Process::Status.wait(child).exitstatus },
      popen: -> { IO.popen("#{command}; exit 3", &:read) && $?.exitstatus },
      open3: -> { Open3.capture2e("#{command}; exit 3").last.exitstatus }
    }.each do |name, way|
      assert_equal 3, way_beside(&way) || $?.exitstatus, name
    end
  end

  def test_output_and_input
    Pelton.run do
      release
      assert_equal "go\n", `#{command}; echo $line`
      assert_equal ["in", "out\n", true], Open3.popen3("cat; echo out >&2") { |stdin, stdout, stderr, thread|
        stdin << "in"
        stdin.close
        [stdout.read, stderr.read, thread.value.success?]
      }
      big = "x" * 1_000_000
      assert_equal big, Open3.capture2("cat", stdin_data: big).first
    end
  end

  def test_many_at_once
    Pelton.run do
      tasks = Array.new(10) { |i| Pelton.spawn { Process.wait2(spawn("#{command}; exit #{i}")).last.exitstatus } }
      sleep 0
      10.times { @pipe.puts("go") }

      assert_equal (0..9).to_a, tasks.map(&:await)
    end
  end

  def test_a_child_that_has_ended_already
    Pelton.run do
      pid = spawn("exit 4")
      eventually("its end") { File.read("/proc/#{pid}/stat")[/\) (\w)/, 1] == "Z" }

      assert_equal 4, Process.wait2(pid).last.exitstatus
    end
  end

  def test_a_process_that_is_not_a_child
    Pelton.run do
      assert_raises(Errno::ECHILD) { Process.wait(Process.pid) }
      assert_raises(Errno::ECHILD) { Process.wait(2**22 + 1) }
    end
  end

  def test_without_waiting
    Pelton.run do
      pid = child
      assert_nil Process.wait(pid, Process::WNOHANG)
      release

      assert_equal pid, Process.wait(pid)
    end
  end

  # In a process without other children.
  def test_any_child
    output = ruby_output(<<~'RUBY', @path, options: %w[-rpelton])
      pipe = File.open(ARGV[0], File::RDWR).tap { |io| io.sync = true }
      child = -> { spawn("read line < #{ARGV[0]}; exit 3") }
      [-> { Process.wait && $?.exitstatus }, -> { Process.wait2(-1).last.exitstatus },
        -> { Process.waitall.map { |_, status| status.exitstatus } },
        -> { Process.detach(child.call).value.exitstatus }, -> { (Process.wait rescue $!.class) },
        -> { Process.waitall }].each_with_index do |way, i|
        Pelton.run do
          child.call if i < 3
          Pelton.spawn { pipe.puts("go") } if i < 4
          p way.call
        end
      end
    RUBY

    assert_equal %w[3 3 [3] 3 Errno::ECHILD []], output.lines(chomp: true)
  end

  def test_a_child_that_stops
    Pelton.run do
      pid = spawn("sleep 20")
      Pelton.spawn { Process.kill("STOP", pid) }

      assert_predicate Process.wait2(pid, Process::WUNTRACED).last, :stopped?
      Process.kill("KILL", pid)
      assert_predicate Process.wait2(pid).last, :signaled?
    end
  end

  def test_without_pidfd_a_thread_waits
    Pelton.run do
      Fiber.scheduler.stub(:pidfd, nil) do
        pid = child
        release

        assert_equal 3, Process.wait2(pid).last.exitstatus
      end
    end
  end

  def test_a_cancelled_wait_leaves_the_child_to_others
    descriptors = Dir.children("/proc/self/fd").size
    Pelton.run do
      pid = child(pgroup: true)
      tasks = [-> { Process.wait(pid) }, -> { Process.wait(-pid) }].map { |wait| Pelton.spawn(&wait) }
      sleep 0.001
      tasks.each(&:cancel)
      tasks.each { |task| assert_raises(Pelton::Cancelled) { task.await } }
      release

      assert_equal 3, Process.wait2(pid).last.exitstatus
    end

    assert_operator Dir.children("/proc/self/fd").size, :<=, descriptors + 3 # the reactor's own
  end

  private

  def command = "read line < #{@path}"

  def child(**options) = Process.spawn("#{command}; exit 3", **options)

  def release = Pelton.spawn { @pipe.puts("go") }

  def way_beside
    Pelton.run do
      release
      yield
    end
  end
end
