# frozen_string_literal: true

require "socket"

# A memcached that sends the replies of a test, in the pieces that the test chooses. The block plays one connection: it
# gets a Peer and the connection's number, from 0, and runs in a thread. When it returns, the connection is closed.
#
#   with_lying_memcached(->(peer) { peer.command; peer.send("VA 1\r", "\nx\r\n") }) do |address| ... end
module LyingMemcached
  # One connection, seen from the server.
  class Peer
    def initialize(socket)
      @socket = socket
      @socket.setsockopt(:TCP, :NODELAY, true)
    end

    # The next command's line, without its end; a set's value is read with it. nil when the client is gone. A client's
    # first question, whether the server speaks the meta protocol, is answered here.
    def command
      line = next_line or return
      @socket.read(Integer(line.split[2]) + 2) if line.start_with?("ms ")
      line.chomp("\r\n")
    rescue SystemCallError
      nil
    end

    # Sends the reply to a command: with the key, where the command asks for it.
    def answer(line, reply)
      verb, key, *flags = line.split
      send((verb == "mg" && flags.include?("k")) ? reply.sub(/\AVA \d+/) { |head| "#{head} k#{key}" } : reply)
    end

    # The next line, whatever it is.
    def line = @socket.gets("\r\n")

    # Reads so many commands.
    def commands(count) = Array.new(count) { command }

    # Sends the pieces, each so that it can arrive alone.
    def send(*pieces)
      pieces.each do |piece|
        @socket.write(piece)
        Thread.pass
        sleep 0.0005 if pieces.size > 1
      end
    rescue SystemCallError
      nil # the client has closed the connection before the last piece
    end

    # Answers every command with the block's value (default: a miss), until the client goes.
    def serve
      while (line = command)
        answer(line, block_given? ? yield(line) : "EN\r\n")
      end
    end

    # Sends nothing until the client goes.
    def stall
      nil while @socket.readpartial(65_536)
    rescue EOFError, SystemCallError
      nil
    end

    # Ends the connection with a reset.
    def reset
      @socket.setsockopt(:SOCKET, :LINGER, [1, 0].pack("ii"))
      @socket.close
    end

    # Knows no meta commands, as memcached before 1.6: reads each line as a command, those of a value as well, and gives
    # it to the block. At the end the block gets nil.
    def know_no_meta_commands
      while (read = line)
        yield read
        @socket.write((read == "version\r\n") ? "VERSION 1.5.22\r\n" : "ERROR\r\n")
      end
    rescue SystemCallError
      nil # the client has closed the connection without reading everything
    ensure
      yield nil
    end

    def close
      @socket.close unless @socket.closed?
    end

    private

    def next_line
      first = line
      return first unless first == "mn\r\n"
      line
      @socket.write("MN\r\nVERSION 1.6.18\r\n")
      line
    end
  end

  # Calls the block with the server's address. The scripts play the connections in order, and the last one all that
  # follow; an error in a script fails the test.
  def with_lying_memcached(*scripts)
    listener = TCPServer.new("127.0.0.1", 0)
    errors = Thread::Queue.new
    threads = []
    acceptor = Thread.new do
      (0..).each do |number|
        socket = listener.accept
        threads << Thread.new { play(scripts[number] || scripts.last, Peer.new(socket), errors) }
      end
    rescue IOError, SystemCallError
      nil # the end
    end
    result = yield "127.0.0.1:#{listener.addr[1]}"
    raise errors.pop unless errors.empty?
    result
  ensure
    listener&.close
    acceptor&.join
    threads&.each(&:kill)
  end

  private

  def play(script, peer, errors)
    script.call(peer)
  rescue => error
    errors << error
  ensure
    peer.close
  end
end
