# frozen_string_literal: true

require "fileutils"
require "socket"
require_relative "rails_program"
require_relative "../../../test/support/http/peer"
require_relative "../../../test/support/running_program"

# The applications in the folders beside this file, served by `pelton serve`, `rails server -u pelton` and Puma in
# separate processes.
module RailsServing
  include GemProgram
  include RunningPrograms

  COMMANDS = {
    pelton: %W[bundle exec pelton serve --bind tcp://127.0.0.1:0 --log #{File::NULL}],
    rails: %w[bin/rails server --using pelton --binding 127.0.0.1 --port 0],
    rackup: %w[env RACKUP_HANDLER=pelton bin/rails server --binding 127.0.0.1 --port 0],
    puma: %w[bundle exec puma --bind tcp://127.0.0.1:0 --threads 5:5 --environment production]
  }.freeze

  # With Rack 2 an application writes Content-Length, and Puma passes that on.
  class Peer < HttpPeer::Peer
    private

    def header_name(name) = name.downcase
  end

  # An application that is being served.
  class Serving < RunningProgram
    # A connection on which each byte is seen.
    def peer = Peer.new(TCPSocket.new("127.0.0.1", port))

    # @return [HttpPeer::Response] on a separate connection
    def get(path, headers = "", method: "GET")
      peer = self.peer
      peer.get(path, headers, method: method)
    ensure
      peer&.close
    end

    def post(path, body, headers = "")
      peer = self.peer
      peer.say("POST #{path} HTTP/1.1\nHost: localhost\ncontent-length: #{body.bytesize}\n#{headers}\n", body).response
    ensure
      peer&.close
    end

    def body(path) = get(path).body
  end

  def teardown
    @servings&.each do |serving|
      serving.stop("KILL")
      FileUtils.rm_rf(serving.folder)
    end
    super
  end

  # Starts a server with a copy of an application, and returns when it listens.
  #
  # @param application [String] the folder beside this file
  # @return [Serving]
  def serve(application, by: :pelton, version: RailsProgram::VERSION, options: [], environment: {})
    starting = start(application, by: by, version: version, options: options, environment: environment)
    await_start(starting)
  end

  # Starts a server, and does not wait.
  def start(application, by: :pelton, version: RailsProgram::VERSION, options: [], environment: {})
    gems = RailsProgram.gems(version)
    needs_gems(gems)
    folder = Dir.mktmpdir("pelton-rails-")
    # Last-Modified of static files is the same for each server
    FileUtils.cp_r("#{__dir__}/#{application}/.", folder, preserve: true)
    environment = child_environment.merge(gems.environment, "RACK_ENV" => "production", "PELTON_WATCHDOG" => "off",
      **environment)
    serving = Serving.new([*COMMANDS.fetch(by), *options], environment, folder: folder, log: "#{folder}/output")
    serving.tap { (@servings ||= []) << serving }
  end

  def await_start(serving)
    await_program(serving) { serving.port }
    serving
  end
end
