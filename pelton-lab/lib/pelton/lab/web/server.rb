# frozen_string_literal: true

require "etc"
require "net/http"
require "openssl"
require "rbconfig"
require "socket"
require "tmpdir"
require "pelton/clock"
require_relative "../measurement"
require_relative "../programs"

module Pelton
  module Lab
    # A web server that a contender starts, and that is measured instead of the contender's own process. It stays in the
    # contender's process group, so that it ends with it.
    class WebServer
      # CPU seconds (`cpu` is exact, `user` and `system` are counted in ticks), and KB of resident memory: now, and the
      # peak since {#forget_peak}.
      Usage = Struct.new(:cpu, :user, :system, :rss_kb, :peak_kb)

      TICKS = Etc.sysconf(Etc::SC_CLK_TCK).to_f

      # @return [Integer]
      attr_reader :port, :pid

      # Starts a server, yields it when it accepts, and ends it with all processes that it has started.
      # @param environment [Hash{String => String}]
      # @param command [#call] gets the port to listen on and an empty folder, returns the command line
      # @param name [String, nil] the host's name that clients ask it for by TLS; nil: it has no TLS
      # @raise [RuntimeError] when it does not accept within `deadline` seconds
      def self.serve(command, environment: {}, deadline: 20, name: nil)
        Dir.mktmpdir("pelton-lab") do |folder|
          server = new(command, environment, folder, name:)
          server.await(deadline)
          yield server
        ensure
          server&.stop
        end
      end

      def initialize(command, environment, folder, name: nil)
        @name = name
        @port = Programs.free_port
        @log = File.join(folder, "log")
        environment = {"RACK_ENV" => "production", "APP_ENV" => "production", **environment}
        # An empty folder contains no configuration to read by mistake.
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
          if ended || Clock.now > late
            raise "the server did not start: #{Programs.last_words(@log) || "without a message"}"
          end
          sleep 0.02
          retry
        end
      end

      # Waits until it answers with 200: a proxy accepts before the server behind it does.
      # @raise [RuntimeError] when it does not within `deadline` seconds
      def await_answer(path, deadline)
        late = Clock.now + deadline
        until (answer = try(path)) == "200"
          if Clock.now > late
            raise "the server did not answer: #{answer}, #{Programs.last_words(@log) || "without a message"}"
          end
          sleep 0.02
        end
      end

      # @param host [String] what clients call it
      # @return [String]
      def url(path = "/", host: "127.0.0.1")
        "#{@name ? "https" : "http"}://#{host}:#{port}#{path}"
      end

      # @return [Integer] its processes
      def processes = tree.size

      # @return [Net::HTTPResponse]
      def get(path = "/", headers = {})
        http { |http| http.get(path, headers) }
      end

      # @return [Net::HTTPResponse]
      def post(path, body, headers = {})
        http { |http| http.post(path, body, {"content-type" => "application/octet-stream", **headers}) }
      end

      # The usage of the server and all processes that it has started.
      # @return [Usage]
      def usage
        tree.each_with_object(Usage.new(0.0, 0.0, 0.0, 0, 0)) do |pid, sum|
          user, system = File.read("/proc/#{pid}/stat").rpartition(") ").last.split.values_at(11,
            12).map { |ticks| ticks.to_i / TICKS }
          status = File.read("/proc/#{pid}/status")
          sum.cpu += cpu(pid) || user + system
          sum.user += user
          sum.system += system
          sum.rss_kb += status[/^VmRSS:\s+(\d+)/, 1].to_i
          sum.peak_kb += status[/^VmHWM:\s+(\d+)/, 1].to_i
        rescue Errno::ENOENT, Errno::ESRCH
          next # it has ended
        end
      end

      # Measures the server while the block sends it requests. Among the records is `grown_mb`, the peak of its memory
      # above the memory that it had before the first measurement.
      # @yieldreturn [#requests, #seconds] the work, as {WebLoad} returns it
      # @return [Measurement]
      def cost
        forget_peak
        before = usage
        @first_kb ||= before.rss_kb
        done = yield
        after = usage
        user = after.cpu - before.cpu
        system = user * system_share(before, after)
        Measurement.new(user: user - system, system:, real: done.seconds,
          operations: done.requests, rss_kb: after.peak_kb,
          records: {grown_mb: (after.peak_kb - @first_kb) / 1024.0})
      end

      # The peak of memory counts from now on.
      def forget_peak
        tree.each do |pid|
          File.write("/proc/#{pid}/clear_refs", "5")
        rescue SystemCallError
          next # it has ended, or the kernel does not forget peaks
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

      # @return [String] the status, or why there is none
      def try(path)
        get(path).code
      rescue SystemCallError, OpenSSL::SSL::SSLError, EOFError => error
        error.message
      end

      def http(&block)
        client = Net::HTTP.new(@name || "127.0.0.1", port, nil)
        client.ipaddr = "127.0.0.1"
        client.open_timeout = 10
        client.read_timeout = 30
        client.use_ssl = !@name.nil?
        client.verify_mode = OpenSSL::SSL::VERIFY_NONE # of itself
        client.start(&block)
      end

      # The CPU time of a process in seconds, by its own clock (clock_getcpuclockid(3)): a tick is a tenth of a short
      # round.
      # @return [Float, nil] nil where the system has no such clock
      def cpu(pid)
        Process.clock_gettime((~pid << 3) | 2)
      rescue SystemCallError
        nil
      end

      def system_share(before, after)
        user, system = after.user - before.user, after.system - before.system
        (user + system).positive? ? system / (user + system) : 0
      end

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
