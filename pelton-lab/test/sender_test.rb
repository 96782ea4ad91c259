# frozen_string_literal: true

require "test_helper"
require "digest"
require "pelton/lab/pattern"
require "pelton/lab/sender"
require_relative "with_processes"

class LabSenderTest < PeltonTest
  include WithProcesses

  def setup
    super
    @sender = Pelton::Lab::Sender.new(@processes, nil)
  end

  def receive(bytes)
    TCPSocket.open("127.0.0.1", @sender.port) do |socket|
      socket.puts(bytes)
      socket.read
    end
  end

  def test_sends_the_requested_bytes
    assert_equal Pelton::Lab::Pattern.digest(1_000_000), Digest::SHA256.hexdigest(receive(1_000_000))
  end

  def test_serves_again_after_a_receiver_has_gone
    TCPSocket.open("127.0.0.1", @sender.port) { |socket| socket.puts(100_000_000) }

    assert_equal 10, receive(10).bytesize
  end
end
