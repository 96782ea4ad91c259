# frozen_string_literal: true

require "active_job"

module Pelton
  module Rails
    # A time limit for jobs that run in fibers:
    #
    #     class AnswerJob < ApplicationJob
    #       pelton_timeout 60 # seconds
    #       retry_on Pelton::TimeoutError
    #
    # A job that waits when its time is over gets {TimeoutError}, as a failure of its own. One that computes gets it
    # when it waits next. In threads, where nothing can end a wait safely, there is no limit.
    #
    # `config.pelton.job_timeout` is the limit of jobs that set none.
    module JobLimits
      # @private
      def self.install(default)
        ::ActiveJob::Base.include(self).tap { ::ActiveJob::Base.pelton_timeout(default) if default }
      end

      def self.included(base)
        base.class_attribute :job_timeout, instance_accessor: false
        base.extend(ClassMethods)
        base.around_perform { |job, block| JobLimits.limit(job.class.job_timeout, &block) }
      end

      # @private
      def self.limit(seconds, &block) = (seconds && Pelton.running?) ? Pelton.timeout(seconds, &block) : yield

      # In classes of jobs.
      module ClassMethods
        # @param seconds [Numeric, nil] for each try; nil: without limit
        # @raise [ArgumentError] if it is not more than 0
        def pelton_timeout(seconds)
          if seconds && !(seconds.is_a?(Numeric) && seconds > 0)
            raise ArgumentError, "pelton_timeout must be more than 0 seconds, or nil"
          end
          self.job_timeout = seconds
        end
      end
    end
  end
end
