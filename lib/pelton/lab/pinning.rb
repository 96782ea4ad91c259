# frozen_string_literal: true

require_relative "programs"

module Pelton
  module Lab
    # Which core the server and the contender run on. A loopback round trip takes three times as long between two cores
    # as on one (a sleeping core must be woken), so a figure without its pinning says nothing.
    module Pinning
      NAMES = {same: "one core", apart: "two cores", free: "not pinned"}.freeze

      class << self
        # Puts this process on another core, with all of its threads; what it has started stays where it is.
        # @param core [Integer, nil] nil: leaves it where it is
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

        # Why this pinning cannot be had here, or nil.
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

        # A list as the kernel writes it, "0-2,5".
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
