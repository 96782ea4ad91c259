# frozen_string_literal: true

require_relative "programs"

module Pelton
  module Lab
    # Which core the server and the contender run on. A loopback round trip takes three times as long between two cores
    # as on one (a sleeping core must be woken), so a figure without its pinning says nothing.
    module Pinning
      NAMES = {same: "one core", apart: "two cores", free: "not pinned"}.freeze

      class << self
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
