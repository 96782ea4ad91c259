# frozen_string_literal: true

module Pelton
  module ActiveRecord
    # Makes an interrupted `Mutex#sleep`, by which ConditionVariable and Monitor wait, lock the mutex again, as Ruby 3.2
    # does. Without it, a request that is ended while it waits for a database connection, or for a stream of
    # ActionController::Live, raises ThreadError ("not locked") instead of the limit's error.
    module MutexSleep
      # Does nothing from Ruby 3.2 on.
      def self.install
        ::Thread::Mutex.prepend(self) if RUBY_VERSION < "3.2"
      end

      def sleep(...)
        super
      rescue Exception # standard:disable Lint/RescueException
        lock unless owned?
        raise
      end
    end
  end
end
