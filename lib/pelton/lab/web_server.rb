# frozen_string_literal: true

require "etc"
require "net/http"
require "rbconfig"
require "socket"
require "tmpdir"
require_relative "../clock"
require_relative "measurement"
require_relative "programs"

module Pelton
  module Lab
    # A web server that a contender starts: it is what is measured, not the contender's own process. It stays in the
    # contender's process group, so that it ends with it.
    class WebServer
      # CPU seconds, and KB of resident memory: now, and at the highest since {#forget_peak}.
      Usage = Struct.new(:user, :system, :rss_kb, :peak_kb)

      TICKS = Etc.sysconf(Etc::SC_CLK_TCK).to_f

      # @return [Integer]
      attr_reader :port, :pid

      # Starts a server, yields it when it accepts, and ends it with all that it has started.
      # @param environment [Hash{String => String}]
      # @yieldparam port [Integer] in `command`: where it shall listen
      # @param command [#call] given a port and a folder of its own, returns the command line
      # @raise [RuntimeError] when it does not accept within `deadline` seconds
      def self.serve(command, environment: {}, deadline: 20)
        Dir.mktmpdir("pelton-lab") do |folder|
          server = new(command, environment, folder)
          server.await(deadline)
          yield server
        ensure
          server&.stop
        end
      end

      def initialize(command, environment, folder)
        @port = TCPServer.open("127.0.0.1", 0) { |socket| socket.addr[1] }
        @log = File.join(folder, "log")
        environment = {"RACK_ENV" => "production", "APP_ENV" => "production", **environment}
        # Its own folder, too: no configuration that lies about is read.
        @pid = Process.spawn(environment, *Programs.tied, *command.call(port, folder), chdir: folder, in: File::NULL,
          out: @log, err: %i[child out], rlimit_nofile: Process.getrlimit(:NOFILE).last)
      end

      # Waits until it accepts.
      def await(deadline)
        late = Clock.now + deadline
        begin
          TCPSocket.new("127.0.0.1", port).close
        rescue SystemCallError
          ended = Process.wait(pid, Process::WNOHANG)
          @pid = nil if ended
          raise "the server did not start: #{Programs.last_words(@log) || "it says nothing"}" if ended || Clock.now > late
          sleep 0.02
          retry
        end
      end

      # @return [String]
      def url(path = "/")
        "http://127.0.0.1:#{port}#{path}"
      end

      # @return [Net::HTTPResponse]
      def get(path = "/")
        Net::HTTP.start("127.0.0.1", port, nil, open_timeout: 10, read_timeout: 30) { |http| http.get(path) }
      end

      # What it has used, with all processes that it has started.
      # @return [Usage]
      def usage
        tree.each_with_object(Usage.new(0.0, 0.0, 0, 0)) do |pid, sum|
          user, system = File.read("/proc/#{pid}/stat").rpartition(") ").last.split.values_at(11, 12)
          status = File.read("/proc/#{pid}/status")
          sum.user += user.to_i / TICKS
          sum.system += system.to_i / TICKS
          sum.rss_kb += status[/^VmRSS:\s+(\d+)/, 1].to_i
          sum.peak_kb += status[/^VmHWM:\s+(\d+)/, 1].to_i
        rescue Errno::ENOENT, Errno::ESRCH
          next # it has ended
        end
      end

      # What it uses while the block asks it. Among the records is `grown_mb`, how far its memory's peak is above what it had
      # before.
      # @yieldreturn [#requests, #seconds] what was done, as {WebLoad} says it
      # @return [Measurement]
      def cost
        forget_peak
        before = usage
        done = yield
        after = usage
        Measurement.new(user: after.user - before.user, system: after.system - before.system, real: done.seconds,
          operations: done.requests, rss_kb: after.peak_kb, records: {grown_mb: (after.peak_kb - before.rss_kb) / 1024.0})
      end

      # The peak of memory counts from now on.
      def forget_peak
        tree.each do |pid|
          File.write("/proc/#{pid}/clear_refs", "5")
        rescue SystemCallError
          next # it has ended, or the kernel keeps to its peak: then that is what is told
        end
      end

      def stop
        return unless pid
        tree.each do |pid|
          Process.kill(:KILL, pid)
        rescue Errno::ESRCH
          next
        end
        Process.wait(pid)
        @pid = nil
      end

      private

      # The process and its descendants.
      def tree
        children = Hash.new { |hash, parent| hash[parent] = [] }
        Dir["/proc/[0-9]*/stat"].each do |path|
          children[File.read(path)[/.*\) \S (\d+)/m, 1].to_i] << path[/\d+/].to_i
        rescue Errno::ENOENT, Errno::ESRCH
          next
        end
        all = [pid]
        all.each { |parent| all.concat(children[parent]) }
      end
    end
  end
end
