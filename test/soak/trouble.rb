# frozen_string_literal: true

module Soak
  # Harms the servers and the connections to them, in one way after the other.
  class Trouble
    KINDS = %i[cut cut_after stall delay pieces half_open down freeze_up kill].freeze

    attr_reader :tally

    # @param deaths [IO] gets a byte before a server is killed, and another one when the server runs again
    def initialize(servers, proxies, deaths, random)
      @servers = servers
      @proxies = proxies
      @deaths = deaths
      @random = random
      @tally = Hash.new(0)
    end

    def make
      kind = KINDS.sample(random: @random)
      place = @random.rand(@proxies.size)
      @tally[kind] += 1
      __send__(kind, @proxies[place], @servers[place])
      pause(0.1)
    end

    private

    def pause(most) = sleep(@random.rand(0.01..most))

    def cut(proxy, _) = proxy.cut!

    def cut_after(proxy, _) = proxy.cut_after(@random.rand(1..200_000))

    def half_open(proxy, _) = proxy.half_open!

    def stall(proxy, _)
      proxy.stall!
      pause(1)
      proxy.resume
    end

    def delay(proxy, _)
      proxy.delay = @random.rand(0.001..0.02)
      pause(0.5)
      proxy.delay = 0
    end

    def pieces(proxy, _)
      proxy.piece = @random.rand(1..500)
      pause(0.5)
      proxy.piece = 65_536
    end

    def down(proxy, _)
      proxy.down!
      proxy.cut!
      pause(0.5)
      proxy.up!
    end

    def freeze_up(_, server)
      server.freeze_up
      pause(1)
      server.thaw
    end

    def kill(_, server)
      return if @random.rand(3) > 0 # not too often: each death ends the models of the server's keys
      @deaths.write("x")
      server.kill
      pause(0.3)
      server.start
      @deaths.write("x")
    end
  end
end
