# frozen_string_literal: true

module Pelton
  module Lab
    class MemcachedServer
      # Pelton's memcached in a separate process, if no other is installed.
      class Embedded < MemcachedServer
        attr_reader :pid
        alias_method :stallable, :pid

        # @raise [Unavailable] when it does not start
        def initialize(processes, core)
          super()
          @host = "127.0.0.1"
          @pid, @port = processes.serve_ruby(Installation::COMMAND, "memcached", "-p", "0", "-m", "256", core:)
        end

        def version
          "Pelton's embedded memcached #{Pelton::VERSION}"
        end
      end
    end
  end
end
