# frozen_string_literal: true

require_relative "programs"

module Pelton
  module Lab
    # The cores that the server and the contender run on. A loopback round trip takes three times as long between two
    # cores as on one (a sleeping core must be woken), so a measurement means nothing without its pinning.
    module Pinning
      NAMES = {same: "one core", apart: "two cores", free: "not pinned"}.freeze

      class << self
        # The words to put before a command that belongs on a core.
        # @param core [Integer, nil] nil: any
        # @return [Array<String>]
        def words(core) = core ? ["taskset", "-c", core.to_s] : []

        # Moves this process to another core, with all of its threads. Its child processes stay on their cores.
        # @param core [Integer, nil] nil: it stays
        def move(core)
          return unless core
          system("taskset", "-a", "-c", "-p", core.to_s, Process.pid.to_s, out: File::NULL) or raise "taskset failed"
        end

        # @return [Array(Integer, Integer)] the server's and the contender's core, nil for any
        def cores(pin)
          case pin
          when :same then [allowed.last, allowed.last]
          when :apart then [allowed.first, allowed.last]
          else [nil, nil]
          end
        end

        # The reason why this pinning is not possible here, or nil.
        def unavailable(pin)
          return if pin == :free
          return "pinning needs taskset (util-linux)" unless Programs.find("taskset")
          "this process may use one core only" if pin == :apart && allowed.size < 2
        end

        # The cores this process may use.
        def allowed
          @allowed ||= parse(File.read("/proc/self/status")[/^Cpus_allowed_list:\s+(\S+)/, 1])
        rescue Errno::ENOENT
          [0]
        end

        # The numbers of a list in the kernel's format, "0-2,5".
        def parse(list)
          list.split(",").flat_map do |range|
            first, last = range.split("-").map(&:to_i)
            (first..(last || first)).to_a
          end
        end
      end
    end
  end
end
