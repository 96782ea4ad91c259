# frozen_string_literal: true

require "test_helper"
require "pelton/lab"
require "pelton/lab/database_server"
require_relative "with_processes"

# Databases themselves are started by test/integration/lab_applications_test.rb.
class LabDatabaseServerTest < PeltonTest
  include WithProcesses

  def test_a_server_that_listens_is_ready
    server = start("a database") do |server|
      server.prepare("sh", "-c", "echo prepared > data", chdir: server.folder)
      [RbConfig.ruby, "-rsocket", "-e", "TCPServer.open('127.0.0.1', #{server.port}) { |listener| sleep }"]
    end

    assert_equal "prepared\n", File.read("#{server.folder}/data")
    assert_equal "127.0.0.1", server.host
    assert_equal "a database", server.version
  end

  def test_a_server_that_ends_is_said_with_its_last_words
    failed = assert_raises(Pelton::Lab::Unavailable) { start("a database") { ["sh", "-c", "echo no disk; exit 1"] } }

    assert_equal "a database did not start: no disk", failed.message
  end

  def test_a_preparation_that_fails_is_said
    failed = assert_raises(Pelton::Lab::Unavailable) do
      start("a database") { |server| server.prepare("sh", "-c", "echo no space; exit 1") }
    end

    assert_equal "sh failed: no space", failed.message.chomp
  end

  private

  def start(version, &command) = Pelton::Lab::DatabaseServer.new(@processes, nil, version, user: "nobody", &command)
end
