# frozen_string_literal: true

module Pelton
  module Rails
    # Has an interrupted `Mutex#sleep`, which is what ConditionVariable and Monitor wait by, lock the mutex again, as Ruby itself does from 3.2
    # on. Without it, a request that is ended while it waits for a database connection or for a stream of ActionController::Live fails with
    # a ThreadError ("not locked") instead of the time limit's error.
    module MutexSleep
      # Does nothing where Ruby needs no help.
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
