# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/certificates"
require "net/http"
require "open-uri"
require "openssl"
require "pelton"
require "resolv"
require "socket"

# Ruby's own library on the scheduler. The servers are tasks of the same loop, so the tests end only if the loop goes on
# while a client waits.
class SchedulerLibraryTest < PeltonTest
  self.deadline = 15

  def test_net_http
    with_http_server do |port|
      answers = Array.new(20) { |i| Pelton.spawn { Net::HTTP.get(URI("http://127.0.0.1:#{port}/#{i}")) } }

      assert_equal (0..19).map { |i| "/#{i}" }, answers.map(&:await)
    end
  end

  def test_net_http_by_name_with_one_connection
    with_http_server do |port|
      bodies = Net::HTTP.start("localhost", port) do |http|
        %w[/a /b].map { |path| http.post(path, "x" * 200_000, {"Content-Type" => "text/plain"}).body }
      end

      assert_equal ["/a 200000", "/b 200000"], bodies
    end
  end

  def test_net_http_times_out_while_others_go_on
    with_http_server do |port|
      slow = Pelton.spawn do
        Net::HTTP.start("127.0.0.1", port, read_timeout: 0.05, max_retries: 0) { |http| http.get("/never") }
      end

      assert_equal "/x", Net::HTTP.get("127.0.0.1", "/x", port)
      assert_raises(Net::ReadTimeout) { slow.await }
    end
  end

  def test_open_uri
    with_http_server do |port|
      answers = Array.new(5) { |i| Pelton.spawn { URI.open("http://127.0.0.1:#{port}/#{i}", proxy: nil, &:read) } }

      assert_equal (0..4).map { |i| "/#{i}" }, answers.map(&:await)
    end
  end

  def test_net_http_is_refused
    Pelton.run { assert_raises(Errno::ECONNREFUSED) { Net::HTTP.get("127.0.0.1", "/", free_port) } }
  end

  def test_tls
    Pelton.run do
      listener = TCPServer.new("127.0.0.1", 0)
      Pelton.spawn do
        tls = OpenSSL::SSL::SSLServer.new(listener, server_context).accept
        tls.puts(tls.gets.upcase)
        tls.write(tls.read(1_000_000))
        tls.close
      end
      client = OpenSSL::SSL::SSLSocket.new(TCPSocket.new("127.0.0.1", listener.addr[1])).connect
      client.puts("hello")
      assert_equal "HELLO\n", client.gets
      writer = Pelton.spawn { client.write("y" * 1_000_000) }

      assert_equal "y" * 1_000_000, client.read(1_000_000)
      writer.await
    end
  end

  def test_resolv
    Pelton.run do
      server = UDPSocket.new.tap { |udp| udp.bind("127.0.0.1", 0) }
      task = Pelton.spawn { loop { answer(server, *server.recvfrom(512)) } }
      dns = Resolv::DNS.new(nameserver_port: [["127.0.0.1", server.addr[1]]])

      assert_equal ["192.0.2.7"] * 5, Array.new(5) { Pelton.spawn { dns.getaddress("name.example").to_s } }.map(&:await)
      task.cancel
    end
  end

  def test_names_by_ruby
    Pelton.run do
      assert_includes %w[127.0.0.1 ::1], IPSocket.getaddress("localhost")
      assert_equal 80, Addrinfo.tcp("localhost", 80).ip_port
      assert_raises(SocketError) { TCPSocket.new("no-such-name.invalid", 80) }
    end
  end

  def test_threads_and_reactors_do_not_disturb_each_other
    queue = Queue.new
    Pelton.run do
      threads = Array.new(3) { |i| Thread.new { Pelton.run { sleep(0.001) && queue << i } } }

      assert_equal [0, 1, 2], Array.new(3) { queue.pop }.sort
      threads.each(&:join)
    end
  end

  private

  def with_http_server
    Pelton.run do
      server = TCPServer.new("127.0.0.1", 0)
      Pelton.spawn { loop { serve(server.accept) } }
      yield server.addr[1]
      Pelton.stop
    ensure
      server&.close
    end
  end

  # Answers with the path, and the length of the body if there is one.
  def serve(socket)
    Pelton.spawn do
      while (path = socket.gets&.split&.at(1))
        length = 0
        until (line = socket.gets) == "\r\n"
          length = $1.to_i if line =~ /\Acontent-length: (\d+)/i
        end
        socket.read(length)
        sleep if path == "/never"
        body = [path, *(length if length > 0)].join(" ")
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: #{body.size}\r\n\r\n#{body}")
      end
    rescue SystemCallError
      nil # the client went away
    ensure
      socket.close
    end
  end

  def answer(server, question, from)
    query = Resolv::DNS::Message.decode(question)
    query.qr = 1
    query.add_answer(query.question.first.first, 60, Resolv::DNS::Resource::IN::A.new("192.0.2.7"))
    server.sendmsg(query.encode, 0, Addrinfo.udp("127.0.0.1", from[1]))
  end

  def server_context
    OpenSSL::SSL::SSLContext.new.tap do |context|
      context.add_certificate(Certificates.server.x509, Certificates.server.private_key)
    end
  end
end
