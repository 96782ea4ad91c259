# frozen_string_literal: true

require "net/http"
require "downstream/helper"
require "support/sockets"

# thin, started by its command: alone and as a cluster, in the background, on TCP and on UNIX sockets.
class ThinTest < DownstreamTest
  include Sockets

  self.deadline = 60

  CONFIGURATION = <<~'RUBY'
    run lambda { |env|
      body = env["rack.input"].read
      [200, {"content-type" => "text/plain"}, ["#{env["REQUEST_METHOD"]} #{env["PATH_INFO"]} #{body} #{Process.pid}"]]
    }
  RUBY

  def setup = bundled!

  def test_a_cluster_in_the_background
    port = two_ports
    with_thin("-a", "127.0.0.1", "-p", port, "-s", "2") do
      answers = [port, port + 1].map { |one| eventually("an answer") { ask(one) } }

      assert_equal %w[GET GET], answers.map { |answer| answer.split.first }
      assert_equal 2, answers.map { |answer| answer.split.last }.uniq.size
      assert_match(/\APOST \/form x{100000} /,
        Net::HTTP.post(URI("http://127.0.0.1:#{port}/form"), "x" * 100_000, "content-type" => "text/plain").body)
    end
    [port, port + 1].each { |one| eventually("the end") { ask(one).nil? } }
  end

  def test_a_server_on_a_unix_socket
    with_thin("-S", "./thin.sock") do |folder|
      path = File.join(folder, "thin.sock")
      answer = eventually("an answer") { ask_path(path) }

      assert_match(%r{\AHTTP/1\.1 200 OK\r\n.*GET /unix  \d+\z}m, answer)
    end
  end

  private

  # @return [Integer] a free port, whose successor is free as well
  def two_ports
    loop do
      port = free_port
      TCPServer.open("127.0.0.1", port + 1).close
      return port
    rescue SystemCallError
      next
    end
  end

  def with_thin(*options)
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "config.ru"), CONFIGURATION)
      control = ->(command) {
        thin(folder, *options, "-R", "config.ru", "-P", "thin.pid", "-l", "thin.log", "-d",
          command)
      }
      begin
        control.call("start")
        yield folder
      rescue Minitest::Assertion => error
        raise error.class, "#{error.message}\n#{Dir[File.join(folder, "*.log")].map { |log| File.read(log) }.join}"
      ensure
        control.call("stop")
      end
    end
  end

  def thin(folder, *arguments)
    output =
      IO.popen(bundle_environment,
        ["bundle", "exec", "thin", *arguments.map(&:to_s), chdir: folder, err: [:child, :out], in: File::NULL], &:read)
    assert_predicate $?, :success?, output
  end

  def ask(port)
    Net::HTTP.get(URI("http://127.0.0.1:#{port}/"))
  rescue SystemCallError, EOFError
    nil
  end

  def ask_path(path)
    answer_from(path, "GET /unix HTTP/1.0\r\n\r\n")
  rescue SystemCallError
    nil
  end
end
