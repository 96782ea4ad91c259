# frozen_string_literal: true

require_relative "../test_helper"
require "json"
require "pelton/cluster"
require "socket"
require "tmpdir"

class ClusterStatusTest < PeltonTest
  def test_it_answers_with_the_figures
    status do |path|
      head, body = ask(path, "GET /stats HTTP/1.1\r\nHost: x\r\n\r\n").split("\r\n\r\n")

      assert_match(/\AHTTP\/1.1 200 OK\r\nContent-Type: application\/json\r\nContent-Length: #{body.bytesize}\r\n/, head)
      assert_equal({"workers" => 2}, JSON.parse(body))
      assert_equal 0o600, File.stat(path).mode & 0o777
    end
  end

  def test_other_requests_and_clients_that_leave_do_no_harm
    status do |path|
      assert_match(/\AHTTP\/1.1 404/, ask(path, "GET / HTTP/1.1\r\n\r\n"))
      assert_match(/\AHTTP\/1.1 404/, ask(path, "\0\xFF"))
      UNIXSocket.open(path).close
      assert_match(/\AHTTP\/1.1 200/, ask(path, "GET /stats HTTP/1.0\r\n\r\n"))
    end
  end

  def test_the_path_is_taken_over_and_removed
    Dir.mktmpdir do |folder|
      File.write("#{folder}/s", "old")
      Pelton::Cluster::Status.new("#{folder}/s") { {} }.close

      refute_path_exists "#{folder}/s"
    end
  end

  private

  def status
    Dir.mktmpdir do |folder|
      status = Pelton::Cluster::Status.new("#{folder}/s") { {workers: 2} }
      yield "#{folder}/s"
    ensure
      status.close
    end
  end

  def ask(path, request) = UNIXSocket.open(path) { |socket| socket.write(request) && socket.read }
end
