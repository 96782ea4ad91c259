# frozen_string_literal: true

module Pelton
  # The parts that a program requires by themselves. Until then their names are private, since the extension has defined some.
  REQUIRES = {HTTP: "pelton/http", PubSub: "pelton/pubsub", Cable: "pelton/cable", Memcached: "pelton/memcached", Cluster: "pelton/cluster", Test: "pelton/test", Control: "pelton/control",
              Metrics: "pelton/metrics"}.freeze
  private_constant :REQUIRES, :HTTP, :Memcached

  class << self
    private

    def const_missing(name)
      path = REQUIRES[name] or return super
      raise NameError.new("Pelton::#{name} needs its own require: require \"#{path}\"", name, receiver: self)
    end
  end
end
