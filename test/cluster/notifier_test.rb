# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/cluster"
require "tmpdir"

class ClusterNotifierTest < PeltonTest
  Notifier = Pelton::Cluster::Notifier

  def teardown
    Pelton.logger = $stderr
  end

  def test_a_service_manager_is_notified
    Dir.mktmpdir do |folder|
      [["#{folder}/s", "#{folder}/s"], ["@pelton-#{Process.pid}", "\0pelton-#{Process.pid}"]].each do |name, path|
        manager = Socket.new(:UNIX, :DGRAM)
        manager.bind(Addrinfo.unix(path))
        notifier = Notifier.new({"NOTIFY_SOCKET" => name, "WATCHDOG_USEC" => "3000000"})
        [:ready, :alive, :reloading, :stopping].each { |event| notifier.public_send(event) }

        assert_equal "READY=1\nMAINPID=#{Process.pid}", manager.recv(1000)
        assert_equal "WATCHDOG=1", manager.recv(1000)
        assert_match(/\ARELOADING=1\nMONOTONIC_USEC=\d+\z/, manager.recv(1000))
        assert_equal "STOPPING=1", manager.recv(1000)
        assert_in_delta 1.5, notifier.interval
      ensure
        manager.close
      end
    end
  end

  def test_without_a_service_manager_nothing_happens
    notifier = Notifier.new({})

    assert_nil notifier.ready
    assert_nil notifier.interval
  end

  def test_a_service_manager_that_is_gone_does_no_harm
    Pelton.logger = log = StringIO.new
    Notifier.new({"NOTIFY_SOCKET" => "/nowhere/at/all"}).ready

    assert_match(/cannot notify/, log.string)
  end
end
