# frozen_string_literal: true

# The lab's applications, each on a server in a process of its own on the first core.

require "net/http"
require "pelton/lab/web_programs"

class RecordServer
  attr_reader :port, :pid

  # Yields a `pelton serve` of an application of the lab.
  def self.pelton(application, environment, &block)
    new(Pelton::Lab::WebPrograms.pelton(Pelton::Lab::WebPrograms.application(application)), environment).use(&block)
  end

  # @param program [Proc] of WebPrograms
  def initialize(program, environment)
    @port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    libraries = {"RUBYLIB" => [Pelton::Lab::Installation::LIBRARIES, *$LOAD_PATH.grep(/pelton-record/), ENV["RUBYLIB"]].compact.join(":")}
    @pid = Process.spawn({**libraries, **environment}, "taskset", "-c", "0", *program.call(@port, nil), out: File::NULL)
  end

  def use
    200.times { break if answers? || !sleep(0.05) }
    yield self
  ensure
    Process.kill(:KILL, @pid)
    Process.wait(@pid)
  end

  private

  def answers?
    TCPSocket.new("127.0.0.1", @port).close
    true
  rescue SystemCallError
    false
  end
end
