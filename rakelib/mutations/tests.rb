# frozen_string_literal: true

require "json"

module Mutations
  # Runs tests in a copy.
  class Tests
    PATIENCE = 10 # seconds, and
    FACTOR = 6 # times as long as without a fault a test may take: it hangs then, or does too much

    def initialize(copy)
      @copy = copy
    end

    # @param files [Array<String>]
    # @param limit [Numeric] in seconds
    # @return [Symbol] :passed, :failed or :timeout
    def run(files, limit)
      command = files.first.end_with?(".c") ? core(files) : ruby(files)
      watched(command, limit)
    end

    # Without a fault: the seconds of each file that passes.
    # @return [Hash{String => Float}]
    def clean(files)
      return files.to_h { |file| [file, clean_core(file)] }.compact if files.first.end_with?(".c")
      FileUtils.rm_f(report)
      watched(ruby(["--all", *files]), 1200)
      found = JSON.parse(File.read(report))
      found["seconds"].slice(*files).except(*found["failed"])
    rescue Errno::ENOENT # the process died
      {}
    end

    private

    def report = @copy.path("tmp/report.json")

    def ruby(files) = @copy.ruby_command("rakelib/mutations/run_tests.rb", report, *files)

    def core(files)
      names = files.map { |file| file.sub(%r{\Atest/core/(\w+)/test_(\w+)\.c\z}, '\1/\2') }
      @copy.core_command("check", "NAMES=#{names.join(" ")}")
    end

    def clean_core(file)
      began = now
      now - began if watched(core([file]), 300) == :passed
    end

    # What the command started is killed with it. Its guard (test/support/guard.rb) has a moment to do it first.
    def watched(command, limit)
      pid = Process.spawn(@copy.environment, *command, chdir: @copy.folder, unsetenv_others: true, pgroup: true,
        in: File::NULL, out: @copy.log, err: @copy.log)
      until_time = now + limit
      until (ended = Process.wait2(pid, Process::WNOHANG))
        break Process.kill("KILL", pid) if now > until_time
        sleep 0.01
      end
      Process.wait(pid) unless ended
      sleep 0.1
      begin
        Process.kill("KILL", -pid)
      rescue Errno::ESRCH
        nil
      end
      return :timeout unless ended
      ended.last.success? ? :passed : :failed
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
