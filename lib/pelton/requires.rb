# frozen_string_literal: true

module Pelton
  # The parts that a program requires by themselves. Until then their names are private, since the extension has defined
  # some.
  REQUIRES = {HTTP: "pelton/http", PubSub: "pelton/pubsub", Cable: "pelton/cable", Memcached: "pelton/memcached",
              Cluster: "pelton/cluster", Test: "pelton/test", Control: "pelton/control",
              Metrics: "pelton/metrics"}.freeze
  private_constant :REQUIRES, :HTTP, :Memcached

  class << self
    # Loads a gem on which Pelton does not depend.
    #
    # @param feature [String] as for require
    # @param message [String] which gem the Gemfile needs, and for what
    # @return [void]
    # @raise [LoadError] with the message, if the gem is missing; its own, if the gem misses something else
    # @api private
    def require_gem(feature, message)
      require feature
      nil
    rescue LoadError => error
      raise unless error.path == feature
      raise LoadError, message, cause: nil
    end

    private

    def const_missing(name)
      path = REQUIRES[name] or return super
      raise NameError.new("Pelton::#{name} needs its own require: require \"#{path}\"", name, receiver: self)
    end
  end
end
