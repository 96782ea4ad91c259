# frozen_string_literal: true

module Pelton
  module Lab
    class MemcachedServer
      # A real memcached that the lab starts on 127.0.0.1, with one worker thread, so that it uses one core.
      class Installed < MemcachedServer
        MEGABYTES = 256
        private_constant :MEGABYTES

        attr_reader :pid
        alias_method :stallable, :pid

        # @raise [Unavailable] where memcached is not installed or does not start
        def initialize(processes, core)
          super()
          @host = "127.0.0.1"
          @program = Programs.find("memcached") or raise Unavailable, "memcached is not installed"
          @processes = processes
          @core = core
          raise Unavailable, "memcached did not start" unless 5.times.any? { start }
        end

        def version
          @version ||= "memcached #{stats["version"]}, -t 1"
        end

        private

        # Another process may take the port before memcached binds it, so the answering process is checked.
        def start
          @port = Programs.free_port
          @pid = @processes.start(@program, "-l", host, "-p", port.to_s, "-U", "0", "-t", "1", "-m", MEGABYTES.to_s,
            core: @core, user: "nobody", out: File::NULL, err: File::NULL)
          return true if answers?
          @processes.stop(@pid)
          false
        end

        # The number of the process that answers, or nil.
        def answer
          stats["pid"].to_i
        rescue Errno::ECONNREFUSED
          nil
        end

        def answers? = 200.times.any? { answer == pid || (sleep(0.01) && false) }
      end
    end
  end
end
