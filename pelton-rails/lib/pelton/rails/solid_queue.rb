# frozen_string_literal: true

require "pelton"
require "pelton/pubsub"

module Pelton
  module Rails
    # Runs the jobs of Solid Queue's workers with `fibers: N` (config/queue.yml) on Pelton, without the gem async.
    # Everything else is Solid Queue's own: claims, recurring tasks, concurrency controls, batches and supervision.
    #
    # A version of Solid Queue whose interface is not known here is left alone, and a warning says so.
    module SolidQueue
      # The versions of the interface of pools, and the file for each.
      POOLS = {"~> 1.7" => "solid_queue/fiber_pool"}.freeze
      private_constant :POOLS

      class << self
        # @param control [String, nil] the address of the workers' control sockets: see {RunningJobs}
        # @return [Boolean] whether this version of Solid Queue is known
        def install(control: nil)
          version = Gem::Version.new(::SolidQueue::VERSION)
          _, file = POOLS.find { |requirement, _| Gem::Requirement.new(requirement).satisfied_by?(version) }
          return leave_alone(version) unless file
          require_relative file
          FiberPool.install
          RunningJobs.control = control
          ::SolidQueue.on_worker_start { Pelton::PubSub.join }
          true
        end

        private

        def leave_alone(version)
          Pelton.logger&.warn("Solid Queue #{version} is not known to pelton-rails (#{POOLS.keys.join(", ")}): its " \
            "workers run as they do without Pelton")
          false
        end
      end
    end
  end
end
