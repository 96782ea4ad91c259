# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/control"
require "pelton/command/control_client"
require "tmpdir"

class ControlClientTest < PeltonTest
  def test_the_answer_of_a_unix_socket
    Dir.mktmpdir do |folder|
      control("#{folder}/s") do |_|
        ["#{folder}/s", "unix://#{folder}/s"].each do |address|
          assert_equal '{"n":1}', Pelton::ControlClient.ask(address, "GET", "/stats")
        end
      end
    end
  end

  def test_the_answer_by_tcp
    control("tcp://127.0.0.1:0") do |address|
      assert_equal '{"n":1}', Pelton::ControlClient.ask(address, "GET", "/stats")
    end
  end

  def test_another_answer_is_an_error
    control("tcp://127.0.0.1:0") do |address|
      error = assert_raises(ArgumentError) { Pelton::ControlClient.ask(address, "POST", "/purge?path=/a") }
      assert_equal "POST /purge: 503 Service Unavailable: worker 1 does not answer", error.message
    end
  end

  def test_nobody_listens
    assert_raises(Errno::ENOENT) { Pelton::ControlClient.ask("/nowhere/socket", "GET", "/stats") }
  end

  private

  def control(address)
    control = Pelton::Control.new(address,
      stats: -> { {n: 1} }, metrics: -> { "" }, purge: ->(_) { "worker 1 does not answer" })
    yield control.address
  ensure
    control&.close
  end
end
