# frozen_string_literal: true

require "socket"

module Soak
  # What jobs call: it sends a text word by word, and often hangs, resets its connection, or ends within an event.
  class JobsUpstream
    WORDS = 20
    HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"

    # @return [String] the text of a message
    def self.text(number) = Array.new(WORDS) { |index| "#{number}:#{index} " }.join

    # @return [Hash{Symbol => Integer}] what it has done
    attr_reader :tally

    # @return [Boolean] whether it has faults
    attr_writer :faulty

    def initialize(seed)
      @random = Random.new(seed)
      @faulty = true
      @tally = Hash.new(0)
      @server = TCPServer.new("127.0.0.1", 0)
      Thread.new { loop { Thread.new(@server.accept) { |socket| answer(socket) } } }
    end

    def url = "http://127.0.0.1:#{@server.local_address.ip_port}/"

    private

    def answer(socket)
      number = Integer(socket.readpartial(10_000)[%r{\AGET /(\d+) }, 1])
      socket.write(HEAD)
      fault = @faulty ? [nil, nil, :hang, :reset, :half].sample(random: @random) : nil
      @tally[fault || :whole] += 1
      WORDS.times do |index|
        return trouble(socket, fault) if fault && index == WORDS / 2
        socket.write("data: #{number}:#{index} \n\n")
        sleep 0.03
      end
      socket.write("event: end\ndata: \n\n")
    rescue SystemCallError, IOError
      nil # the job has left
    ensure
      socket.close
    end

    def trouble(socket, fault)
      case fault
      when :hang then socket.read # until the job leaves
      when :reset then socket.setsockopt(:SOCKET, :LINGER, [1, 0].pack("ii"))
      when :half then socket.write("data: half an ev")
      end
    end
  end
end
