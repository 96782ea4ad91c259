# frozen_string_literal: true

require_relative "../installation"
require_relative "../pinning"
require_relative "../programs"
require_relative "programs"
require_relative "server"

module Pelton
  module Lab
    # The servers that have the lab's channel, each with an application that broadcasts on it: POST /broadcast?N.
    module CableServers
      # @!attribute command
      #   @return [#call] as {WebServer.serve} takes it
      # @!attribute environment
      #   @return [Hash{String => String}]
      # @!attribute needs
      #   @return [Hash{Symbol => Object}] options of {Contender}
      # @!attribute redis
      #   @return [Boolean] whether a Redis is started with it
      Server = Struct.new(:command, :environment, :needs, :redis, keyword_init: true) do
        def initialize(environment: {}, redis: false, **) = super
      end

      BARE, WEB, RAILS = %w[cable cable_web cable_rails].map { |name| WebPrograms.application(name) }
      PUMA = {style: "blocking", gem: "puma", with: %w[rails]}.freeze
      private_constant :BARE, :WEB, :RAILS, :PUMA

      class << self
        # @yieldparam server [WebServer]
        # @yieldparam url [String] of the sockets
        def serve(run, server, environment = {}, &block)
          if server.redis
            return WebServer.serve(WebPrograms.redis) { |redis|
              start(run, server,
                {"ADAPTER" => "redis", "REDIS" => "redis://127.0.0.1:#{redis.port}", **environment}, &block)
            }
          end
          start(run, server, environment, &block)
        end

        # The bare application on Pelton, with further options of `pelton serve`.
        # @return [Server]
        def pelton(*options) = Server.new(command: WebPrograms.pelton(BARE, *options), needs: {style: "direct"})

        private

        def start(run, server, environment)
          libraries = [Installation::LIBRARIES, ENV["RUBYLIB"]].compact.join(File::PATH_SEPARATOR)
          WebServer.serve(server.command, environment: {"RUBYLIB" => libraries, **environment, **server.environment},
            deadline: 60) do |started|
            # AnyCable's server does not wait for its application
            sleep 0.05 while started.get("/up").code == "502"
            Pinning.move(run.server_core)
            yield started, started.url("/cable").sub("http", "ws")
          end
        end

        # AnyCable's server in Go before Puma, which it asks by HTTP, and which sends it broadcasts by HTTP: the program
        # `anycable-thruster` of bin/setup.
        def anycable
          lambda do |port, folder|
            own, broadcasts = Array.new(2) { Programs.free_port }
            ["env", "HTTP_PORT=#{port}", "TARGET_PORT=#{own}", "ANYCABLE_RPC_HOST=http://127.0.0.1:#{own}/_anycable",
              "ANYCABLE_HTTP_RPC_MOUNT_PATH=/_anycable",
              "ANYCABLE_BROADCAST_ADAPTER=http", "ANYCABLE_HTTP_BROADCAST_PORT=#{broadcasts}",
              "ANYCABLE_HTTP_BROADCAST_URL=http://127.0.0.1:#{broadcasts}/_broadcast",
              "ANYCABLE_DISABLE_TELEMETRY=true", "anycable-thruster", *WebPrograms.puma(RAILS).call(own, folder)]
          end
        end

        # The same words after a program that puts a gem before those of the bundle.
        def behind(program, command) = ->(port, folder) { [program, *command.call(port, folder)] }
      end

      # By their names.
      ALL = {
        "Puma, Rails" => Server.new(command: WebPrograms.puma(RAILS), needs: PUMA),
        "Puma, Rails, fastlane" => Server.new(command: behind("actioncable-next",
          WebPrograms.puma(RAILS)), environment: {"FASTLANE" => "1"},
          needs: {style: "blocking", program: "actioncable-next"}),
        "Puma, 2 workers, Redis" => Server.new(command: WebPrograms.puma(RAILS, workers: 2), redis: true,
          needs: {style: "blocking", gem: "redis", with: %w[puma rails]}),
        "AnyCable, Rails" => Server.new(command: anycable, environment: {"RAILTIE" => "anycable-rails-core",
                                                                         "ADAPTER" => "any_cable"},
          needs: {style: "blocking", program: "anycable-thruster"}),
        "Pelton, Rails" => Server.new(command: WebPrograms.pelton(RAILS), environment: {"RAILTIE" => "pelton/rails"},
          needs: {style: "direct", gem: "rails"}),
        "Pelton, Web" => Server.new(command: WebPrograms.pelton(WEB), needs: {style: "direct"}),
        "Pelton" => pelton,
        "node, ws" => Server.new(command: ->(port, _) do
          [Programs.find("node"), WebPrograms.application("cable", "js"), port.to_s]
        end,
          environment: {"NODE_PATH" => "/usr/share/nodejs:/usr/lib/node_modules"}, needs: {style: "callback",
                                                                                           program: "node"})
      }.freeze
    end
  end
end
