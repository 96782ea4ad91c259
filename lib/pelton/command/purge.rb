# frozen_string_literal: true

require "json"
require "uri"
require_relative "control_client"

module Pelton
  # `pelton purge ADDRESS PATH`: has a server remove responses from its cache, in all workers.
  module Purge
    USAGE = <<~TEXT
      usage: pelton purge ADDRESS PATH

      Removes responses from a server's cache of public responses. ADDRESS is its --control: tcp://host:port, or the path
      of a UNIX socket. PATH is a path (/posts/1, with any query), or ends with * ('/posts/*'; '/*' is everything).
    TEXT

    # @param arguments [Array<String>] the control socket's address, and the path
    # @return [Integer] the exit status: 0, 1 when it was not done, 2 when the arguments are wrong
    def self.run(arguments, out: $stdout, error: $stderr)
      address, path, *rest = arguments
      return out.puts(USAGE) || 0 if (arguments & %w[-h --help]).any?
      return error.puts(USAGE) || 2 unless path&.start_with?("/") && rest.empty? && !address.start_with?("-")
      answer = ControlClient.ask(address, "POST", "/purge?path=#{URI.encode_www_form_component(path)}")
      out.puts("purged: #{JSON.parse(answer).fetch("purged")}")
      0
    rescue SystemCallError, ArgumentError, JSON::ParserError => problem
      error.puts("pelton purge: #{address}: #{problem.message}")
      1
    end
  end
end
